"""People: a person ends their own session."""

from brasstag.app import end_session
from brasstag.surfaces.web.routes import Accepted, Nothing, Visit, WebAction
from brasstag.surfaces.web.security.identity import COOKIE, Person
from brasstag.words.errors import Code, ToolError


async def log_out_here(visit: Visit, _body: Nothing) -> Accepted:
    """End the session of this browser; other browsers of the person stay logged in."""
    if not isinstance(visit.identity, Person):
        raise ToolError(
            Code.NOT_SUPPORTED, "a program has no session; `brasstag tokens remove` ends its token"
        )
    end_session(visit.request.cookies[COOKIE])
    return Accepted()


ACTIONS = (
    WebAction(
        "/logout",
        Nothing,
        Accepted,
        log_out_here,
        "End the session of this browser.",
        "viewer",
        of_room=False,
    ),
)
