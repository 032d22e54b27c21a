"""`python -m api --fd N` (a listening socket, inherited) or `--port N`: serve the query process until SIGTERM."""

import argparse
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType

import uvicorn

from api.app import create_app
from api.patience import KEEP_ALIVE_S, PatientProtocol
from api.stopping import STOP_S, Server
from shared.errors import CiteboundError
from shared.lifeline import PARENT_PIPE, START_AGAIN, follow_parent
from shared.settings_load import load_settings

SWITCH_S = 0.001  # that the event loop waits for a thread that computes; Python's own 5 ms would be felt in every step of every run

_log = logging.getLogger("api")


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 after a stop, 2 when the settings or the data folder won't do, START_AGAIN when an admin asked for that."""
    parser = argparse.ArgumentParser(prog="python -m api")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--fd", type=int, help="number of an inherited listening socket")
    given.add_argument("--port", type=int, help="listen here instead of at the port in the settings; 0 = any free one")
    options = parser.parse_args(arguments)
    follow_parent()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    for quiet in ("httpx", "httpcore", "openai"):
        logging.getLogger(quiet).setLevel(logging.WARNING)  # they log addresses with every request
    again = _Again()
    try:
        settings = load_settings(os.environ)
        app = create_app(settings, env=os.environ, start_again=again.ask if PARENT_PIPE in os.environ else None)
    except CiteboundError as error:
        print(f"api: {error.message}", file=sys.stderr)
        return 2
    port = settings.api.port if options.port is None else options.port
    listening = socket.socket(fileno=options.fd) if options.fd is not None else _listen(settings.api.host, port)
    host, port = listening.getsockname()[:2]
    _log.info("listening on %s port %d", host, port)
    sys.setswitchinterval(SWITCH_S)
    config = uvicorn.Config(
        app,
        loop="auto" if sys.platform == "win32" else "uvloop",
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S,
    )
    server = Server(config, stop_runs=app.state.stop_runs)
    _stop_with_code_0(server)
    again.server = server
    server.run(sockets=[listening])
    return START_AGAIN if again.asked else 0


class _Again:
    """The wish to be started again by the parent, which holds the listening socket meanwhile: nobody is turned away."""

    def __init__(self) -> None:
        self.asked = False
        self.server: uvicorn.Server | None = None

    def ask(self) -> None:
        assert self.server is not None
        self.asked = self.server.should_exit = True


def _stop_with_code_0(server: uvicorn.Server) -> None:
    """uvicorn raises the signal that stopped it once more, for the handlers that were there before: these."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    return listening


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
