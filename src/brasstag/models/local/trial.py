"""A trial call: a server's tool calling counts only once a call has come through."""

from brasstag.words.messages import System, Text, User
from brasstag.words.turns import Model, Offer, TurnRequest

_OFFER = Offer(
    "report_number",
    "Report a number.",
    {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": False,
    },
)
_ASKED = TurnRequest(
    messages=(
        System("You use tools. Answer every request with a call of the tool that fits."),
        User((Text("Report the number 7 with report_number."),)),
    ),
    offers=(_OFFER,),
    max_tokens=2000,
)


async def calls_tools(model: Model) -> bool:
    """Say whether a model answers a plain request with a plain call; raises ModelError when it does not answer."""
    turn = await model.respond(_ASKED, lambda _text: None)
    return [(call.tool, call.arguments) for call in turn.calls] == [("report_number", {"number": 7})]
