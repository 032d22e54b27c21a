"""How a command ends when it can't do what was asked, and what its exit code says."""

from typing import Final

OK: Final = 0
FAILED: Final = 1  # tried and failed; the message says what, why and what to do
USAGE: Final = 2  # the arguments or settings can't work; nothing was tried
PARTIAL: Final = 3  # done, with something missing that is listed
NO_ANSWER: Final = 4  # the question was refused or asked back
UNREACHABLE: Final = 5  # no Citebound is running there
DIFFERENT: Final = 6  # a replay: the run would see something else
IMPOSSIBLE: Final = 7  # a replay: what it needs is gone; the message says what
INTERRUPTED: Final = 130  # Ctrl-C


class CommandFailed(Exception):
    """`message`: what happened and why; `remedy`: what to do about it; `code`: the exit code.

    `field`: of the request that the server refused, "" for none.
    """

    def __init__(
        self, message: str, *, remedy: str = "", code: int = FAILED, error: str = "failed", field: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.code = code
        self.error = error  # machine-readable, as in problem details
        self.field = field
