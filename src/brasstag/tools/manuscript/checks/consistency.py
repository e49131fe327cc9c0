"""consistency_checker: names, places, numbers and dates that differ between two places, with both quotes."""

from brasstag.tools.manuscript.checks.name_forms import misspelled_names, mixed_names, wrong_titles
from brasstag.tools.manuscript.checks.objects import lost_and_used
from brasstag.tools.manuscript.checks.phrases import changed_phrases
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.facts.stated import against_canon, among_themselves
from brasstag.tools.manuscript.text import TextFinding, unique
from brasstag.tools.manuscript.times.weekdays import wrong_weekdays

_ACROSS = frozenset({"count", "interval", "hour", "weekday", "direction", "ordinal"})
"""Numbers, places and dates: here the bible is one file among the others."""


def consistency_findings(facts: StoryFacts) -> list[TextFinding]:
    """Return what two places of a manuscript state differently."""
    context = facts.context
    on_cards = {(fact.key, fact.subjects) for fact in facts.canon}
    uncarded = [fact for fact in facts.stated if (fact.key, fact.subjects) not in on_cards]
    numbers = [fact for fact in facts.stated if fact.key[0] in _ACROSS]
    return unique(
        [
            *among_themselves(uncarded, "consistency"),
            *against_canon(facts.canon, numbers, "consistency"),
            *misspelled_names(context),
            *mixed_names(context),
            *wrong_titles(context),
            *wrong_weekdays(context),
            *lost_and_used(context),
            *changed_phrases(context),
        ]
    )
