"""What a person sees who opens the server's address: what runs here and how to use it. No script, nothing of the library."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery

from api.parts import Parts
from api.routes.access import AnyRequest
from api.routes.block_page import CONTENT_SECURITY_POLICY, STYLE, templates
from api.routes.languages import Lang, language_of
from shared.keys import demands_key
from shared.version import APP_VERSION

_WORDS: dict[Lang, dict[str, str]] = {
    "en": {
        "title": "Citebound is running here",
        "what": "It answers questions about your own documents and binds every claim to the block of text it came from.",
        "import": "Import a folder, in a terminal where Citebound lies:",
        "ask": "Ask:",
        "folder": "FOLDER",
        "question": "a question about what is in it",
        "key": "This server demands its key: CITEBOUND_API_API_KEY in the terminal, a bearer token in other programs.",
        "openapi": "Every route",
        "ready": "Can it answer",
        "openai": "For OpenAI clients",
        "other_language": "中文",
    },
    "zh": {
        "title": "Citebound 正在运行",
        "what": "它回答关于您自己的文档的问题，并将每一句结论与其出处的文本块绑定。",
        "import": "在 Citebound 所在目录的终端中导入文件夹：",
        "ask": "提问：",
        "folder": "文件夹",
        "question": "关于其中内容的问题",
        "key": "此服务需要密钥：在终端中设置 CITEBOUND_API_API_KEY，其他程序以 bearer token 发送。",
        "openapi": "全部接口",
        "ready": "是否就绪",
        "openai": "供 OpenAI 客户端使用",
        "other_language": "English",
    },
}
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Vary": "Accept-Language",
}
_page = templates.get_template("home.html.j2")


@get("/", sync_to_thread=False, include_in_schema=False)
def home(request: AnyRequest, parts: NamedDependency[Parts], lang: FromQuery[str | None] = None) -> Response[str]:
    """A page for people; programs begin at /openapi/openapi.json."""
    language = language_of(lang, request.headers.get("accept-language", ""))
    words = _WORDS[language]
    page = _page.render(
        lang=language,
        other="en" if language == "zh" else "zh",
        style=STYLE,
        version=APP_VERSION,
        words=words,
        origin=str(request.base_url).rstrip("/"),
        steps=[
            (words["import"], f"./scripts/run import {words['folder']}"),
            (words["ask"], f'./scripts/run ask "{words["question"]}"'),
        ],
        keyed=demands_key(parts.settings.api),
        places=[(words["openapi"], "/openapi/openapi.json"), (words["ready"], "/readyz")],
    )
    return Response(page, media_type="text/html", headers=_HEADERS)
