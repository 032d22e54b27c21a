"""Errors of routes for people, as pages. Who has no key gets the form to sign in, at the very address that was asked for."""

from litestar import Response

from api.problem import Problem
from api.routes.access import AnyRequest
from api.routes.query_names import IS_A_PAGE, wants_page
from api.web.frame import language, render, said_problem


def is_of_web(request: AnyRequest) -> bool:
    if "route_handler" not in request.scope:  # no such address: who would look at it?
        return request.scope["method"] == "GET" and "text/html" in request.headers.get("accept", "")
    opt = request.scope["route_handler"].opt
    return "page" in opt or (bool(opt.get(IS_A_PAGE)) and wants_page(request.scope))


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
        detail="" if problem.code == "not_found" else detail,  # which of the two it is stays unsaid
        error_id=problem.error_id,
    )
