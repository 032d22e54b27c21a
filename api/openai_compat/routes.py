"""/v1: models and chat completions, for clients that know nothing of us."""

from typing import Annotated, Any

from litestar import Request, Response, Router, get, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, HeaderParameter, JSONBody
from msgspec.structs import replace

from api.callers import NEEDS_READ, caller_in
from api.live import Live
from api.openai_compat.citations import annotations, block_url, extra, footer
from api.openai_compat.conversation import history_of, question_of
from api.openai_compat.errors import respond
from api.openai_compat.shapes import (
    MODEL,
    ChatBody,
    Choice,
    Completion,
    Extra,
    Model,
    Models,
    OutMessage,
    TaskExtra,
    finish_reason,
)
from api.openai_compat.stream import Envelope, run_chunks, task_chunks, usage_of
from api.openai_compat.tasks import HEADER, Task, answer_task, task_of
from api.parts import Parts
from api.problem import Problem, problem
from api.running import CRASHED, RunCrashed, record_unless_gone
from api.wishes import ask_for
from shared.errors import InvalidArgument, NotFound
from shared.types.events import RunFailed
from shared.types.runs import Usage

AnyRequest = Request[Any, Any, Any]
Reply = Response[Any]  # with a union the framework would send a stream under the other's media type


@get("/models", sync_to_thread=False)
def list_models() -> Models:
    return Models(data=(Model(id=MODEL),))


@get("/models/{model:str}", sync_to_thread=False)
def get_model(model: FromPath[str]) -> Model:
    _check_model(model)
    return Model(id=MODEL)


@post(
    "/chat/completions",
    status_code=200,
    responses={200: ResponseSpec(data_container=Completion, description="the completion, or chunks")},
)
async def chat_completions(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    data: JSONBody[ChatBody],
    client_task: Annotated[str | None, HeaderParameter(name=HEADER)] = None,
) -> Reply:
    """Answer the last user message from the active snapshot; the messages before it are the conversation so far."""
    _check_model(data.model)
    if data.n not in (None, 1):
        raise InvalidArgument("n must be 1: a question has one answer here.", field="n")
    if data.conversation_id is not None:
        raise InvalidArgument(
            "The messages are the conversation here; leave conversation_id out, or ask in it by POST /api/runs.",
            field="conversation_id",
        )
    task = task_of(data.messages, header=client_task)
    if task is not None:
        return _answer_task(task, data, parts)
    caller = caller_in(request.scope["state"])
    url = block_url(f"{request.url.scheme}://{request.url.netloc}", parts.links, caller.access)
    run = await parts.desk.begin(
        ask_for(
            question_of(data.messages),
            data,
            ceiling=caller.limits,
            settings=parts.settings,
            history=history_of(data.messages),
        ),
        caller.access,
    )
    envelope = _envelope(run.run_id, data, parts)
    if data.stream:
        return Live(lambda tell: run_chunks(run, envelope, url, tell, keep_alive_s=parts.heartbeat_s, failure=failure))
    try:
        record = await record_unless_gone(run, request.receive)
    except RunCrashed:
        if run.failed is None:
            raise
        return respond(failure(run.failed), {})
    if run.failed is not None:
        return respond(failure(run.failed), {})
    answer = record.answer
    message = OutMessage(content=answer.text + footer(answer, url), annotations=annotations(answer, url))
    return _completion(envelope, message, answer.usage, extra(answer, url))


openai = Router("/v1", route_handlers=[list_models, get_model, chat_completions], tags=["openai"], opt=NEEDS_READ)


def failure(event: RunFailed) -> Problem:
    """A run that failed, as the error it would have been. Its message says what to do, in the question's language."""
    status = 500 if event.code == CRASHED else 503 if event.retryable else 502
    return replace(problem(event.code, event.message, status=status, run_id=event.run_id), remedy=None)


def _answer_task(task: Task, data: ChatBody, parts: Parts) -> Reply:
    text = answer_task(task, data.messages)
    envelope = _envelope(f"task-{parts.now_ms()}", data, parts)
    told = TaskExtra(task=task)
    if data.stream:
        return Live(lambda _: task_chunks(text, envelope, told))
    return _completion(envelope, OutMessage(content=text), Usage(), told)


def _envelope(number: str, data: ChatBody, parts: Parts) -> Envelope:
    options = data.stream_options
    return Envelope(
        id=f"chatcmpl-{number}",
        created=parts.now_ms() // 1000,
        model=data.model,
        include_usage=options is not None and bool(options.include_usage),
    )


def _completion(envelope: Envelope, message: OutMessage, usage: Usage, told: Extra | TaskExtra) -> Response[Completion]:
    return Response(
        Completion(
            id=envelope.id,
            created=envelope.created,
            model=envelope.model,
            choices=(Choice(message=message, finish_reason=finish_reason(told)),),
            usage=usage_of(usage),
            citebound=told,
        )
    )


def _check_model(model: str) -> None:
    if model != MODEL:
        raise NotFound(f"There is no model {model!r}; use {MODEL!r}.", field="model", ids=[model])
