"""Which form of a reply the caller prefers. Pure, and total: a header is whatever somebody sends."""

import re

FORMS = ("application/json", "text/event-stream")  # of what may take long: all at its end, or as it happens

_QUALITY = re.compile(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", re.ASCII | re.IGNORECASE)


def preferred(accept: str, offered: tuple[str, ...]) -> str:
    """The first of `offered` that the best of the accepted types means; the first of all when none does.

    accept: the header's value, "" = none. A quality that is none counts as 1. Source: RFC 9110 section 12.5.1.
    """
    accepted = [(_quality(parameters), *_kind(media)) for media, parameters in _parts(accept)]
    for _, main, sub in sorted((one for one in accepted if one[0] > 0), key=lambda one: -_rank(*one)):
        for kind in offered:
            its_main, _, its_sub = kind.partition("/")
            if main in ("*", its_main) and sub in ("*", its_sub):
                return kind
    return offered[0]


def _parts(accept: str) -> list[tuple[str, list[str]]]:
    pieces = (part.split(";") for part in accept.split(","))
    return [(media.strip().lower(), parameters) for media, *parameters in pieces]


def _kind(media: str) -> tuple[str, str]:
    main, _, sub = media.partition("/")
    return main, sub


def _quality(parameters: list[str]) -> float:
    found = (_QUALITY.fullmatch(one) for one in parameters)
    return next((min(float(one.group(1)), 1.0) for one in found if one), 1.0)


def _rank(quality: float, main: str, sub: str) -> float:
    return quality * 10 + (main != "*") + (sub != "*")
