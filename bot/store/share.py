"""Which effects a process performs: all, all but the requests to some schedulers, or those alone. It reads no row."""

from dataclasses import dataclass

from bot.store.rows import EffectKind

REQUESTS = frozenset({EffectKind.REQUEST, EffectKind.LOOK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`without`: requests to these schedulers are left to others. `only`: nothing but requests to these, and no view."""

    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def holds(self, kind: EffectKind, scheduler: str) -> bool:
        """Whether an effect of that kind, about a job of that scheduler, is in it."""
        if self.only is not None:
            return kind in REQUESTS and scheduler in self.only
        return kind not in REQUESTS or scheduler not in self.without


EVERYTHING = Share()
