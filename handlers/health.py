"""Whether the service lives, whether it can work, and its figures. It must not hang with a dependency that hangs."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from bot.ports import Clock
from handlers.wire import Answer, json_answer

logger = logging.getLogger(__name__)

Check = Callable[[], str]
OK = "ok"


class Health:
    """`checks` name each configured dependency; a check returns "ok" or the trouble, and may take its time.

    An answer is waited for `deadline` and then kept for `keep`; a check that still hangs is not started a second time.
    """

    def __init__(
        self,
        *,
        checks: Mapping[str, Check],
        clock: Clock,
        deadline: timedelta = timedelta(seconds=2),
        keep: timedelta = timedelta(seconds=5),
    ) -> None:
        self._probes = {name: _Probe(name, check) for name, check in checks.items()}
        self._clock = clock
        self._deadline = deadline
        self._keep = keep
        self._lock = threading.Lock()
        self._read: tuple[datetime, dict[str, str]] | None = None

    def alive(self) -> Answer:
        return json_answer({"status": OK})

    def ready(self) -> Answer:
        """200 when every check says "ok", else 503; either way each is named."""
        checks = self.checks()
        broken = any(said != OK for said in checks.values())
        return json_answer({"checks": checks}, status=503 if broken else 200)

    def metrics(self, registry: CollectorRegistry) -> Answer:
        return Answer(body=generate_latest(registry), content_type=CONTENT_TYPE_LATEST)

    def checks(self) -> dict[str, str]:
        """What each dependency said last, asked anew when that is too long ago."""
        with self._lock:
            now = self._clock()
            if self._read is None or not timedelta(0) <= now - self._read[0] < self._keep:
                for probe in self._probes.values():
                    probe.start()
                until = time.monotonic() + self._deadline.total_seconds()
                self._read = now, {name: self._said(probe, until) for name, probe in self._probes.items()}
            return self._read[1]

    def _said(self, probe: "_Probe", until: float) -> str:
        said = probe.said(max(0.0, until - time.monotonic()))
        return said if said is not None else f"no answer within {self._deadline.total_seconds():g} s"


class _Probe:
    """One check in a thread of its own."""

    def __init__(self, name: str, check: Check) -> None:
        self._name = name
        self._check = check
        self._done = threading.Event()
        self._done.set()
        self._result = OK

    def start(self) -> None:
        if self._done.is_set():
            self._done.clear()
            threading.Thread(target=self._run, name=f"check-{self._name}", daemon=True).start()

    def said(self, within: float) -> str | None:
        return self._result if self._done.wait(within) else None

    def _run(self) -> None:
        try:
            self._result = self._check()
        except Exception as error:
            logger.exception("a readiness check raised", extra={"check": self._name})
            self._result = f"the check failed: {type(error).__name__}"
        finally:
            self._done.set()
