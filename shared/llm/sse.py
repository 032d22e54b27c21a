"""Server-sent events out of bytes, however the network cut them.

Source: WHATWG HTML "Parsing an event stream". Only `data` counts here; providers' event names and ids say nothing that the data doesn't.
"""

from shared.wire.bodies import Oversized

_BOM = b"\xef\xbb\xbf"
_EVENT, _NEXT, _END = b"data: ", b"\n\ndata: ", b"\n\n"


class EventParser:
    """Feed it pieces of a body in order; what it returns doesn't depend on where the pieces were cut.

    Data are bytes as they came. A comment gives nothing: that bytes came at all is what resets a time-out.
    """

    def __init__(self, *, most_bytes: int) -> None:
        """`most_bytes`: of one event. What goes on beyond is not kept: `feed` raises Oversized."""
        self._most_bytes = most_bytes
        self._held = 0  # bytes of an event that isn't complete
        self._begun = False
        self._rest: list[bytes] = []  # of a line that isn't complete; never an empty one
        self._after_cr = False  # a line feed that comes next belongs to the line end that was already seen
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of every event that `piece` completes, in order. Raises: Oversized."""
        if piece.startswith(_EVENT) and piece.endswith(_END) and not self._rest and not self._data:
            events = piece[len(_EVENT) : -len(_END)].split(_NEXT)
            if piece.count(b"\n") == 2 * len(events) and b"\r" not in piece:  # nothing else is in it
                self._begun, self._after_cr = True, False
                return events
        return self._take(piece)

    def finish(self) -> list[bytes]:
        """At the end of the body: an event without its blank line is given too, since some providers leave it out."""
        return self._take(_END)

    def _take(self, piece: bytes) -> list[bytes]:
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if piece.endswith(b"\r"):
            self._after_cr = True
        *ended, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[bytes] = []
        for line in ended:
            self._held -= sum(map(len, self._rest))
            self._line(b"".join([*self._rest, line]), events)
            self._rest.clear()
        if rest:
            self._rest.append(rest)
            self._held += len(rest)
        if self._held > self._most_bytes:
            raise Oversized(self._most_bytes)
        return events

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if not line:
            if self._data:
                events.append(b"\n".join(self._data))
                self._data.clear()
                self._held = 0
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._held += len(line)
