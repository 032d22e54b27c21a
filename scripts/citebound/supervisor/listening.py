"""The API's listening socket: bound here, before anything is started, so that a port in use is one clear message."""

import errno
import socket

import psutil

from scripts.citebound.failure import CommandFailed


def listen(host: str, port: int) -> socket.socket:
    """A listening, inheritable socket; port 0 takes any free one. Raises: CommandFailed with the remedy."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise CommandFailed(
            f"can't listen on {host!r}: {error}", remedy="set CITEBOUND_API_HOST to 127.0.0.1"
        ) from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise _explained(error, host, port) from error
    sock.set_inheritable(True)
    return sock


def address_of(sock: socket.socket) -> str:
    """http://host:port as a client on this machine writes it."""
    host, port = str(sock.getsockname()[0]), int(sock.getsockname()[1])
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def port_holder(port: int) -> str | None:
    """Who listens there, as 'name (process 123)'; None when the system won't tell."""
    try:
        for connection in psutil.net_connections("tcp"):
            local = connection.laddr
            if connection.status == psutil.CONN_LISTEN and local and local.port == port and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:  # other people's processes are not ours to see
        return None
    return None


def _explained(error: OSError, host: str, port: int) -> CommandFailed:
    if error.errno == errno.EADDRINUSE:
        holder = port_holder(port)
        return CommandFailed(
            f"port {port} on {host} is taken by {holder or 'another program'}",
            remedy=f"stop that, or choose another port: CITEBOUND_API_PORT={port + 1}, or 0 for any free one",
            error="port_in_use",
        )
    if error.errno == errno.EACCES:
        return CommandFailed(
            f"port {port} may not be opened by this user", remedy="choose one above 1023: CITEBOUND_API_PORT=8765"
        )
    return CommandFailed(
        f"can't listen on {host}:{port}: {error.strerror}",
        remedy="set CITEBOUND_API_HOST to an address of this machine",
    )
