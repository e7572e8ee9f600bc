"""What the doors count, for Prometheus. Labels are words of ours only, never text from outside."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10)


class Meters:
    """The doors' counters in a registry that the composition root owns."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._requests = Counter(
            "ontrack_requests", "Requests by door and status code.", ("door", "code"), registry=registry
        )
        self._refusals = Counter(
            "ontrack_refusals", "What was turned away at a door, by reason.", ("door", "reason"), registry=registry
        )
        self._events = Counter("ontrack_events", "Events by door and result.", ("door", "result"), registry=registry)
        self._seconds = Histogram(
            "ontrack_request_seconds", "Time to answer, by door.", ("door",), registry=registry, buckets=BUCKETS
        )
        self._in_flight = Gauge("ontrack_requests_in_flight", "Requests being served now.", registry=registry)

    def answered(self, *, door: str, code: int, seconds: float) -> None:
        self._requests.labels(door=door, code=str(code)).inc()
        self._seconds.labels(door=door).observe(seconds)

    def refused(self, *, door: str, reason: str) -> None:
        self._refusals.labels(door=door, reason=reason).inc()

    def taken(self, *, door: str, result: str, count: int = 1) -> None:
        self._events.labels(door=door, result=result).inc(count)

    def in_flight(self, count: int) -> None:
        self._in_flight.set(count)
