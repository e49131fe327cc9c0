"""Times as people read them: how long ago, and the whole in a title."""

from datetime import datetime

from markupsafe import Markup

from brasstag.words.times import utc_now

_STEPS = ((60, "s"), (60, "min"), (24, "h"), (7, "d"))


def ago(at: str) -> str:
    """Return how long ago something was, in one unit."""
    try:
        seconds = max((utc_now() - datetime.fromisoformat(at)).total_seconds(), 0)
    except ValueError:
        return ""
    amount = seconds
    for size, unit in _STEPS:
        if amount < size:
            return f"{int(amount)} {unit}"
        amount /= size
    return f"{int(amount)} w"


def when(at: str) -> Markup:
    """Return a time as an element that the page keeps up to date."""
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at, at, ago(at))
