"""What the shop's scheduler reports: CloudEvents with a run in them. It sends nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

SCHEDULER = "shop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One event; `more` goes into `run`. A run's id follows from its nominal time unless it is given."""

    kind: str
    job: str
    at: datetime
    nominal: datetime | None
    run_id: str = ""
    took: timedelta = timedelta(minutes=10)
    generation: int = 0
    trigger: str = "schedule"
    rerun_key: str | None = None
    error: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    by: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def event(self) -> dict[str, Any]:
        """The CloudEvent."""
        ended = self.kind not in ("started", "scheduled")
        run = {
            "id": self.run_id or f"{self.trigger}__{self.nominal.isoformat() if self.nominal else self.at.isoformat()}",
            "generation": self.generation,
            "nominal_time": self.nominal.isoformat() if self.nominal else None,
            "started_at": (self.at - self.took if ended else self.at).isoformat(),
            "ended_at": self.at.isoformat() if ended else None,
            "trigger": self.trigger,
            "rerun_key": self.rerun_key,
            **self.more,
        }
        data: dict[str, Any] = {"scheduler": SCHEDULER, "job": self.job, "run": run, "facts": dict(self.facts)}
        data |= {name: value for name, value in (("error", self.error), ("by", self.by)) if value is not None}
        return cloud_event(f"run.{self.kind}", data, at=self.at, id=f"{run['id']}-{self.generation}-{self.kind}")


def cloud_event(kind: str, data: Mapping[str, Any], *, at: datetime, id: str) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": id,
        "source": "/shop",
        "type": f"io.ontrack.{kind}",
        "time": at.isoformat(),
        "data": dict(data),
    }
