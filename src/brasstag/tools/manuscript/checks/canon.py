"""canon_checker: what scenes and beats say against what the cards of the bible say, attribute by attribute."""

from brasstag.tools.manuscript.checks.knowledge import knowledge_too_early, objects_too_early
from brasstag.tools.manuscript.checks.persons import dead_who_act, forbidden_acts
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.facts.stated import against_canon
from brasstag.tools.manuscript.facts.tallies import wrong_tallies
from brasstag.tools.manuscript.text import TextFinding, unique
from brasstag.tools.manuscript.times.ages import wrong_ages, wrong_ages_on_cards
from brasstag.tools.manuscript.times.events import wrong_dates
from brasstag.tools.manuscript.times.schedules import wrong_travel
from brasstag.tools.manuscript.times.spans import wrong_spans


def canon_findings(facts: StoryFacts) -> list[TextFinding]:
    """Return every contradiction between the cards and the rest."""
    context = facts.context
    return unique(
        [
            *against_canon(facts.canon, facts.stated, "canon"),
            *wrong_ages(context, "canon"),
            *wrong_ages_on_cards(context, "canon"),
            *wrong_dates(context, "canon"),
            *wrong_travel(context, "canon"),
            *wrong_spans(context, "canon"),
            *wrong_tallies(facts, "canon"),
            *dead_who_act(context),
            *forbidden_acts(context),
            *objects_too_early(context),
            *knowledge_too_early(context),
        ]
    )
