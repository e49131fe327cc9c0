from brasstag.engine.calls.approvals import Decisions as Decisions
from brasstag.engine.calls.explain import Explained as Explained
from brasstag.engine.calls.permit import revoke as revoke
from brasstag.engine.graph.people import answer_question as answer_question
from brasstag.engine.graph.people import open_calls as open_calls
from brasstag.engine.graph.people import stop_task as stop_task
from brasstag.engine.tracebacks import Tracebacks as Tracebacks
from brasstag.engine.transcript.state import RUNNABLE as RUNNABLE
