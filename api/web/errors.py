"""Errors of routes for people, as pages. Who has no key gets the form to sign in, at the very address that was asked for."""

from litestar import Response

from api.problem import Problem
from api.routes.access import AnyRequest
from api.web.frame import language, render, said_problem


def is_of_web(request: AnyRequest) -> bool:
    return "route_handler" in request.scope and "page" in request.scope["route_handler"].opt  # none: no such address


def respond(request: AnyRequest, problem: Problem, headers: dict[str, str]) -> Response[str]:
    caller = request.scope["state"].get("caller")
    if problem.status == 401:
        query = request.scope["query_string"].decode("latin-1")
        path = request.scope["path"] + (f"?{query}" if query else "")
        return render(request, "sign_in.html.j2", caller=None, status=401, headers=headers, target=path, refused=False)
    said, detail = said_problem(problem, language(request))
    return render(
        request,
        "error.html.j2",
        caller=caller,
        status=problem.status,
        headers=headers,
        said=said,
        detail=detail,
        error_id=problem.error_id,
    )
