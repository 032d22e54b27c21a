"""The `citebound` command: reads the arguments, runs one command, turns every ending into an exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from scripts.citebound.arguments import parser
from scripts.citebound.console import as_called, complain, print_json
from scripts.citebound.failure import FAILED, INTERRUPTED, USAGE, CommandFailed
from shared.errors import CiteboundError, SettingsError
from shared.settings_load import is_text

# Libraries that would otherwise report home. onnxruntime 1.32 (2026-11) writes a device id into the person's cache folder at import
# and sends to mobile.events.data.microsoft.com; unstructured asks packages.unstructured.io.
NO_TELEMETRY: Final = {"ORT_DISABLE_TELEMETRY": "1", "SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true"}


def main(argv: Sequence[str]) -> int:
    """Exit code of the command; see failure.py and `citebound --help`."""
    os.environ.update(NO_TELEMETRY)  # here, so that every process started from here has it
    if argv and argv[0] == "help":
        argv = [*argv[1:], "--help"]
    as_json = "--json" in argv
    try:
        _check_text(argv)
        arguments = parser().parse_args(argv)
        return int(arguments.run(arguments))
    except CommandFailed as failed:
        return _ended(failed.message, failed.remedy, code=failed.code, error=failed.error, as_json=as_json)
    except CiteboundError as error:
        code = USAGE if isinstance(error, SettingsError) else FAILED
        return _ended(error.message, "", code=code, error=error.code, as_json=as_json)
    except KeyboardInterrupt:
        if as_json:
            print_json({"error": {"code": "interrupted", "message": "stopped by Ctrl-C or SIGTERM", "remedy": ""}})
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _check_text(argv: Sequence[str]) -> None:
    """Requests, the catalog and JSON are UTF-8. Raises: CommandFailed (USAGE)."""
    for text in argv:
        if not is_text(text):
            raise CommandFailed(
                f"the argument {text!r} is not UTF-8",
                remedy="write it in UTF-8; a file with such a name is imported with the folder that it is in",
                code=USAGE,
                error="usage",
            )


def _ended(message: str, remedy: str, *, code: int, error: str, as_json: bool) -> int:
    if as_json:
        print_json({"error": {"code": error, "message": as_called(message), "remedy": as_called(remedy)}})
    else:
        complain(message, remedy)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
