"""The pages of the control room, one file each: what they show, and what can be done there."""

from brasstag.surfaces.web.pages import inbox, people, question, tasks
from brasstag.surfaces.web.pages.approval import decision_actions, decision_page
from brasstag.surfaces.web.routes import RouteTable

ROUTES = RouteTable(
    pages=(inbox.PAGE, decision_page, *question.PAGES, *tasks.PAGES),
    actions=(*decision_actions, *question.ACTIONS, *tasks.ACTIONS, *people.ACTIONS),
)
"""Everything the control room answers; the description of the API is made of it."""
