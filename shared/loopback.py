"""Whether something leads to this machine itself and nowhere else."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """`host`: an address or a name, without a port and without brackets."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def leads_to_loopback(url: str) -> bool:
    """`url`: with a scheme."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
