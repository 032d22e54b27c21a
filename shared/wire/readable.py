"""Whether something waits to be read from a socket."""

import select
import socket


def is_readable(one: socket.socket) -> bool:
    """Data, an end or an error; also for a socket that is closed. One system call, never waits."""
    number = one.fileno()
    if number < 0:
        return True
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))
