"""What an answer can't vouch for, in words for its reader. Pure."""

from api.agent.harmless import harmless
from api.agent.steps import Wording
from shared.types.runs import Limitation


def limitation(wording: Wording, code: str, **values: object) -> Limitation:
    """`values` may hold what documents, their names and models say: none of it loads an image or is HTML to whoever renders it."""
    return Limitation(code=code, text=harmless(wording.render("limitation", code=code, **values)))
