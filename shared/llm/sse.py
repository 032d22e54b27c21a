"""Server-sent events out of bytes, however the network cut them.

Source: WHATWG HTML "Parsing an event stream". Only `data` counts here; providers' event names and ids say nothing that the data doesn't.
"""

import codecs

_BOM = "\ufeff"


class EventParser:
    """Feed it pieces of a body in order; what it returns doesn't depend on where the pieces were cut.

    Invalid UTF-8 becomes U+FFFD. A comment gives nothing: that bytes came at all is what resets a time-out.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._begun = False
        self._rest: list[str] = []  # of a line that isn't complete
        self._after_cr = False  # a line feed that comes next belongs to the line end that was already seen
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[str]:
        """The data of every event that `piece` completes, in order."""
        return self._take(self._decoder.decode(piece))

    def finish(self) -> list[str]:
        """At the end of the body: an event without its blank line is given too, since some providers leave it out."""
        return self._take(self._decoder.decode(b"", final=True) + "\n\n")

    def _take(self, text: str) -> list[str]:
        if not self._begun and text:
            self._begun = True
            text = text.removeprefix(_BOM)
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        if text.endswith("\r"):
            self._after_cr = True
        *ended, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        events: list[str] = []
        for line in ended:
            self._rest.append(line)
            self._line("".join(self._rest), events)
            self._rest.clear()
        self._rest.append(rest)
        return events

    def _line(self, line: str, events: list[str]) -> None:
        if line == "":
            if self._data:
                events.append("\n".join(self._data))
                self._data.clear()
            return
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
