"""Which chat model the settings mean."""

from shared.llm.openai import OpenAIChat
from shared.llm.port import Chat
from shared.settings import ChatSettings


def open_chat(settings: ChatSettings) -> Chat | None:
    """None = no model is configured and answers are extractive. Nobody is asked yet. Raises: SettingsError."""
    return None if settings.base_url is None else OpenAIChat(settings)
