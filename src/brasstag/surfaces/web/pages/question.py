"""The page of a question: what an agent asks a person, and the person's answer."""

from brasstag.surfaces.web.routes import Visit, WebAction, WebModel, WebPage
from brasstag.words.errors import Code, ToolError


class QuestionView(WebModel):
    """One question to a person."""

    id: str
    room: str
    text: str
    why: str
    role: str
    """Who asks."""
    status: str
    asked_at: str
    may_answer: bool


async def question(visit: Visit) -> QuestionView:
    """Return one question."""
    task = await visit.room.task(visit.path["question"])
    if task.kind != "question":
        raise ToolError(Code.TASK_NOT_FOUND, f"{task.id} is no question")
    item = next((one for one in await visit.room.inbox() if one.id == task.id), None)
    return QuestionView(
        id=task.id,
        room=visit.path["room"],
        text=item.title if item else task.title,
        why=item.why if item else "it has been answered or withdrawn",
        role=item.role if item else "",
        status=task.status,
        asked_at=task.opened_at,
        may_answer=item is not None and visit.identity.may("approver"),
    )


class AnswerBody(WebModel):
    """A person's answer."""

    answer: str


class AnsweredQuestion(WebModel):
    """The question that was answered."""

    id: str


async def answer(visit: Visit, body: AnswerBody) -> AnsweredQuestion:
    """Answer a question, as the person who is logged in."""
    task = await visit.room.answer(visit.path["question"], body.answer, visit.approver)
    return AnsweredQuestion(id=task.id)


PAGES = (
    WebPage(
        "/questions/{question}",
        "question.html",
        QuestionView,
        question,
        "One question to a person.",
        nav="inbox",
    ),
)
ACTIONS = (
    WebAction(
        "/questions/{question}/answer", AnswerBody, AnsweredQuestion, answer, "Answer a question.", "approver"
    ),
)
