"""Looks up the addresses of a host within a given time, which the system's own look-up knows nothing of.

It must not keep an answer: a name may lead elsewhere the next time.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future

import httpcore

Addresses = tuple[str, ...]
Look = Callable[[str, int], Addresses]


def addresses_of(host: str, port: int) -> Addresses:
    """The addresses of `host`, best first, each once; takes as long as the system's resolver likes."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError("no such host") from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Resolver:
    """Each look-up has a thread of its own, which a caller need not wait for; all who want the same host share one."""

    def __init__(self, look: Look = addresses_of) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._under_way: dict[tuple[str, int], Future[Addresses]] = {}

    def addresses(self, host: str, port: int, *, within: float | None) -> Addresses:
        """Raises `httpcore.ConnectError` where there are none, `httpcore.ConnectTimeout` after `within` seconds."""
        if _is_address(host):
            return (host,)
        looking = self._begun(host, port)
        try:
            return looking.result(within)
        except TimeoutError as late:
            raise httpcore.ConnectTimeout("no address in time") from late

    def _begun(self, host: str, port: int) -> Future[Addresses]:
        with self._lock:
            looking = self._under_way.get((host, port))
            if looking is None:
                looking = self._under_way[host, port] = Future()
                threading.Thread(target=self._run, args=(host, port, looking), name="resolve", daemon=True).start()
            return looking

    def _run(self, host: str, port: int, looking: Future[Addresses]) -> None:
        try:
            found = self._look(host, port)
        except httpcore.ConnectError as failed:
            self._done(host, port)
            looking.set_exception(failed)
        else:
            self._done(host, port)
            looking.set_result(found)

    def _done(self, host: str, port: int) -> None:
        with self._lock:
            del self._under_way[host, port]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
