"""Secrets: which of them a configuration makes use of, and the credential store of the operating system that may hold them."""

from shared.settings import Settings
from shared.settings_listed import list_settings

KEYRING_SERVICE = "citebound"


def secret_values(settings: Settings) -> list[str]:
    """Values that must stand in no log, trace or reply."""
    values = (getattr(getattr(settings, one.section), one.field) for one in list_settings() if one.secret)
    return [value for value in values if value]


def stored_secret(name: str) -> str | None:
    """`name` as in Setting.name, from the OS credential store; None when it isn't there or there is no store.

    Put one in with: python -m keyring set citebound chat.api_key
    """
    import keyring  # 60 ms that only a start which needs a secret should pay
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(KEYRING_SERVICE, name)
    except KeyringError:  # no store on this machine, or locked: same as not stored, the provider's 401 tells the rest
        return None


def secrets_of_use(settings: Settings) -> list[str]:
    """Names, as in Setting.name, of the secrets that the other settings make use of; only those are looked up."""
    used = {
        "api.api_key": True,
        "qdrant.api_key": settings.qdrant.url is not None,
        "embedding.api_key": settings.embedding.provider == "openai",
        "rerank.api_key": settings.rerank.base_url is not None,
        "chat.api_key": settings.chat.base_url is not None,
        "otlp.api_key": settings.otlp.endpoint is not None,
        "langfuse.secret_key": settings.langfuse.base_url is not None,
    }
    return [name for name, of_use in used.items() if of_use]
