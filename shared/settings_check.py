"""What no setting can know alone: which of them need one another, and what each of their values has to be like."""

import os
from pathlib import Path

from msgspec.structs import fields

from shared.errors import SettingsError
from shared.keys import demands_key
from shared.loopback import is_address, is_loopback
from shared.settings import ApiSettings, Settings, WorkerSettings
from shared.settings_listed import list_settings
from shared.types.runs import Limits


def check(settings: Settings) -> None:
    """Raises: invalid_settings, which names the setting, the problem and the remedy."""
    _is_open_on_purpose(settings.api)
    _is_whole(settings)
    _is_spelt_right(settings)
    _is_bounded(settings.limits, settings.worker)


def _is_open_on_purpose(api: ApiSettings) -> None:
    if not (is_loopback(api.host) or demands_key(api)):
        raise _refused(
            "api.host",
            f"{api.host} can be reached from other machines, and no key is demanded",
            "set CITEBOUND_API_API_KEY, or CITEBOUND_API_REQUIRE_KEY=true and make keys with ./scripts/run keys add, or bind 127.0.0.1",
        )
    for root in api.import_roots:
        if not Path(root).exists():
            raise _refused(
                "api.import_roots",
                f"there is no folder {root!r}",
                f"correct it; several folders are separated by {os.pathsep!r} in the environment and are a list in the file",
            )


def _is_whole(settings: Settings) -> None:
    chat, embedding, rerank, langfuse = settings.chat, settings.embedding, settings.rerank, settings.langfuse
    if chat.base_url is not None and chat.model is None:
        raise _refused("chat.model", "chat.base_url is set but no model is named", "set CITEBOUND_CHAT_MODEL")
    if chat.base_url is None and chat.model is not None:
        raise _refused(
            "chat.base_url",
            f"chat.model is {chat.model!r} but no provider is named",
            "set CITEBOUND_CHAT_BASE_URL, e.g. https://api.deepseek.com/v1",
        )
    if embedding.provider == "openai" and (embedding.base_url is None or embedding.model is None):
        missing = "base_url" if embedding.base_url is None else "model"
        raise _refused(
            f"embedding.{missing}",
            "the openai provider needs it",
            f"set CITEBOUND_EMBEDDING_{missing.upper()}, or use provider local",
        )
    if (rerank.base_url is None) != (rerank.model is None):
        missing = "base_url" if rerank.base_url is None else "model"
        raise _refused(
            f"rerank.{missing}",
            "reranking needs an address and a model's name",
            f"set CITEBOUND_RERANK_{missing.upper()}, or unset the other",
        )
    for field in ("public_key", "secret_key"):
        if langfuse.base_url is not None and getattr(langfuse, field) is None:
            raise _refused(
                f"langfuse.{field}", "Langfuse takes nothing without it", f"set CITEBOUND_LANGFUSE_{field.upper()}"
            )


def _is_spelt_right(settings: Settings) -> None:
    addresses = {
        "chat.base_url": settings.chat.base_url,
        "embedding.base_url": settings.embedding.base_url,
        "rerank.base_url": settings.rerank.base_url,
        "qdrant.url": settings.qdrant.url,
        "otlp.endpoint": settings.otlp.endpoint,
        "langfuse.base_url": settings.langfuse.base_url,
    }
    for name, url in addresses.items():
        if url is not None and not is_address(url):
            raise _refused(name, f"{url!r} is not a web address", "write it as http://host:port/path or https://…")
    broker = settings.broker.url
    if broker is not None and not (broker.startswith("unix:///") or is_address(broker, schemes=("redis", "rediss"))):
        raise _refused(
            "broker.url", f"{broker!r} is no broker's address", "write it as redis://host:port/0 or unix:///path"
        )
    for secret in (one for one in list_settings() if one.secret):
        value = getattr(getattr(settings, secret.section), secret.field)
        if value is not None and not (value.isascii() and value.isprintable() and " " not in value):
            raise _refused(secret.name, "a key holds ASCII letters, digits and signs, and no spaces", "set it again")


def _is_bounded(limits: Limits, worker: WorkerSettings) -> None:
    for field in fields(limits):
        least = 0 if field.name in ("max_tool_calls", "finalization_reserve_tokens") else 1
        if getattr(limits, field.name) < least:
            raise _refused(
                f"limits.{field.name}", f"{getattr(limits, field.name)} is too small", f"give at least {least}"
            )
    if limits.finalization_reserve_tokens >= limits.max_context_tokens:
        raise _refused(
            "limits.finalization_reserve_tokens", "it leaves no room in max_context_tokens", "give a smaller number"
        )
    if worker.block_tokens > worker.block_max_tokens:
        raise _refused("worker.block_tokens", "the target is above block_max_tokens", "give a smaller number")


def _refused(name: str, problem: str, remedy: str) -> SettingsError:
    return SettingsError(f"{name}: {problem}; {remedy}", field=name)
