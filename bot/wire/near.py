"""Whether a host is this machine, where nobody listens in between. It asks no name server."""

import ipaddress


def is_near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
