"""Whether an address is one, and whether it leads to this machine itself and nowhere else."""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """`host`: an address or a name, without a port and without brackets."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(url: str, *, schemes: Collection[str] = ("http", "https")) -> bool:
    """Whether a client can make a connection out of it: scheme, host, and a port that is one or none."""
    if any(character.isspace() or not character.isprintable() for character in url):
        return False
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        return (
            parts.scheme in schemes
            and bool(parts.hostname)
            and parts.port != 0
            and "%" not in parts.netloc.rpartition("@")[2]
        )
    except ValueError:  # an open bracket, a port that is no number, a host whose parts are empty or too long
        return False


def leads_to_loopback(url: str) -> bool:
    """`url`: with a scheme."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
