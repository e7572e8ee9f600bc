"""The proxy that the environment names for an address. It must not connect."""

from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def proxy_address(url: httpx.URL) -> str | None:
    """The proxy for `url` (`HTTPS_PROXY`, `NO_PROXY` ...) as an address with its password; never one to this machine."""
    if url.host in LOOPBACK or proxy_bypass(url.host):
        return None
    proxies = getproxies()
    address = proxies.get(url.scheme) or proxies.get("all")
    if not address:
        return None
    return address if "://" in address else f"http://{address}"


def proxy_for(url: httpx.URL) -> httpcore.Proxy | None:
    """That proxy for a pool of connections."""
    address = proxy_address(url)
    if address is None:
        return None
    proxy = httpx.Proxy(address)
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth)
