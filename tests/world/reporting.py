"""What the world's scheduler reports through the events door. It looks at nothing that comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx

from bot import cron
from bot.incidents.keys import JobKey
from tests.world.clock import last_at
from tests.world.people import RESET, SOURCE_TOKEN
from tests.world.process import Process
from tests.world.reports import SCHEDULER, Report, cloud_event

Json = dict[str, Any]


@dataclass(slots=True)
class Reporting(Process):
    """Jobs are named by their short names; every report settles before it returns."""

    def has_run(self, job: str, *, times: int = 6, took: timedelta = timedelta(minutes=10)) -> None:
        """Good runs on the days (or other nominal times) before now."""
        nominal, reports = self.now, []
        for _ in range(times):
            nominal = self.nominal_before(job, nominal - timedelta(microseconds=1))
            reports.append(Report(kind="succeeded", job=job, at=nominal + took, nominal=nominal, took=took))
        self.reports(*reversed(reports))

    def fails(
        self,
        job: str,
        *,
        at: str | None = None,
        nominal: str | datetime | None = None,
        log: str = RESET,
        exit_code: int | None = 1,
        **more: Any,
    ) -> Json:
        """The run fails for good; without `nominal` it is the one that was due last."""
        error = {"log": log, "exit_code": exit_code}
        return self._reported("failed", job, at=at, nominal=nominal, error=error, **more)

    def succeeds(self, job: str, *, at: str | None = None, nominal: str | datetime | None = None, **more: Any) -> Json:
        return self._reported("succeeded", job, at=at, nominal=nominal, **more)

    def starts(self, job: str, *, at: str | None = None, nominal: str | datetime | None = None, **more: Any) -> Json:
        return self._reported("started", job, at=at, nominal=nominal, **more)

    def stopped(self, job: str, *, nominal: str | datetime | None = None, **more: Any) -> Json:
        return self._reported("cancelled", job, at=None, nominal=nominal, **more)

    def skips(self, job: str, *, at: str | None = None, nominal: str | datetime | None = None, **more: Any) -> Json:
        return self._reported("skipped", job, at=at, nominal=nominal, **more)

    def rerun_starts(self, job: str) -> Json:
        return self._rerun("started", job)

    def rerun_succeeds(self, job: str, **more: Any) -> Json:
        return self._rerun("succeeded", job, **more)

    def rerun_fails(self, job: str, *, log: str = RESET, **more: Any) -> Json:
        return self._rerun("failed", job, error={"log": log, "exit_code": 1}, **more)

    def changes(self, job: str, **data: Any) -> Json:
        """`job.changed`: another schedule, owner, or the job is gone."""
        told = {"scheduler": SCHEDULER, "job": job, **data}
        return self.sends([cloud_event("job.changed", told, at=self.now, id=self.now.isoformat())])

    def reports(self, *reports: Report) -> Json:
        """One batch from the scheduler, taken in and delivered."""
        answer = self.sends([report.event() for report in reports])
        assert all(result["result"] != "rejected" for result in answer["results"]), answer
        return answer

    def sends(self, events: Sequence[Mapping[str, Any]]) -> Json:
        """POST a batch to the events door, and let everything settle."""
        got = self.posts(events)
        self.settles()
        answer: Json = got.raise_for_status().json()
        return answer

    def posts(self, events: Sequence[Mapping[str, Any]]) -> httpx.Response:
        """POST a batch to the events door; nothing else happens."""
        kind = "application/cloudevents-batch+json"
        headers = {"authorization": f"Bearer {SOURCE_TOKEN}"}
        body = httpx.Request("POST", "http://x", json=list(events)).content
        return self._http.post("/api/v1/events", content=body, headers={**headers, "content-type": kind})

    def pings(self, token: str, word: str = "", text: str | None = None, **query: str) -> httpx.Response:
        """A crontab's curl on one of the job's addresses, with the end of a log where there is one."""
        address = f"/ping/{token}{f'/{word}' if word else ''}"
        if text is None:
            return self._http.get(address, params=query)
        return self._http.post(address, params=query, content=text.encode())

    def nominal_before(self, job: str, at: datetime) -> datetime:
        schedule = self.service.policies.current.job(key_of(job)).schedule
        found = cron.latest_at_or_before(schedule, at) if schedule else None
        return found or at

    def _reported(
        self,
        kind: str,
        job: str,
        *,
        at: str | None,
        nominal: str | datetime | None,
        took: timedelta | None = None,
        **more: Any,
    ) -> Json:
        if at is not None:
            self.moves_to(at)
        wanted = last_at(nominal, self.now) if isinstance(nominal, str) else nominal
        time = wanted or self.nominal_before(job, self.now)
        took = took if took is not None else min(timedelta(minutes=10), self.now - time)
        return self.reports(Report(kind=kind, job=job, at=self.now, nominal=time, took=took, **more))

    def _rerun(self, kind: str, job: str, **more: Any) -> Json:
        """The scheduler reports on the newest rerun that it took of this job."""
        request = [one for one in self.scheduler.taken.values() if one.job == key_of(job)][-1]
        assert request.run is not None
        given = {
            "run_id": request.run.run_id,
            "generation": request.run.generation + 1,
            "trigger": "rerun",
            "rerun_key": request.key,
            "took": timedelta(minutes=10),
            **more,
        }
        return self.reports(Report(kind=kind, job=job, at=self.now, nominal=request.nominal_times[0], **given))


def key_of(job: str) -> JobKey:
    return JobKey(scheduler=SCHEDULER, name=job)
