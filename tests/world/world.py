"""The product in a small company, played in words that read like the pager; the clock moves only when it is told to.

Nothing of the product is replaced but the schedulers' other side and, for PostgreSQL and SQLite alike, nothing at all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from bot import cron
from bot.compose.service import Service, build
from bot.delivery import Pace
from bot.incidents.keys import Action, JobKey
from bot.incidents.model import Incident
from bot.intake.surroundings import scopes_of
from bot.policies import PolicyFile
from bot.ports import SchedulerRequest
from bot.settings import Settings
from bot.store import EffectRow, EffectState, TimelineRow, Which
from tests.world.clock import Clock, Killed, ProcessClock, last_at, next_at
from tests.world.people import CHANNELS, GROUPS, PEOPLE, POLICIES, RESET, SECRET, SOURCE_TOKEN, TOKEN
from tests.world.reports import SCHEDULER, Report, cloud_event
from tests.world.scheduler import FakeScheduler
from tests.world.seen import Mention, Told, buttons, pinged
from tests.world.stage import Stage

Json = dict[str, Any]
AT_ONCE = Pace(post=timedelta(0), update=timedelta(0))
NO_END = 2000
NAMES = {sign: name for table in (PEOPLE, GROUPS, CHANNELS) for name, sign in table.items()}


@dataclass(slots=True)
class World:
    """One test's company. Instants are written "03:15" or "Tue 03:15" (UTC), jobs and people by their short names."""

    stage: Stage
    database_url: str
    directory: Path
    policies: str = POLICIES
    pace: Pace = AT_ONCE
    scheduler: FakeScheduler = field(default_factory=lambda: FakeScheduler(SCHEDULER))
    service: Service = field(init=False, repr=False)
    _process: ProcessClock = field(init=False, repr=False)
    delivering: bool = True
    _read_people_at: datetime | None = None
    _http: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.stage.url, timeout=30, trust_env=False)
        self._policies_path.write_text(self.policies)
        self._start()

    # time

    @property
    def clock(self) -> Clock:
        return self.stage.clock

    @property
    def now(self) -> datetime:
        return self.clock.now

    def moves_to(self, written: str | datetime) -> None:
        """The clock goes on to that instant, through everything that falls due before it, in order."""
        until = next_at(written, self.now) if isinstance(written, str) else written
        for _ in range(NO_END):
            self.settles()
            due = self._next_due()
            if due is None or due > until:
                break
            self.clock.now = max(due, self.now)
        else:
            raise AssertionError(f"something falls due again and again before {until}")
        self.clock.now = max(until, self.now)
        self.settles()

    def passes(self, **span: float) -> None:
        """So much time goes by: `world.passes(minutes=30)`."""
        self.moves_to(self.now + timedelta(**span))

    def settles(self) -> None:
        """Everything that is due now is done; a process that dies over it is started anew."""
        try:
            self._settles()
        except Killed:
            self.kill()

    def _settles(self) -> None:
        steps = self.service.steps
        for _ in range(NO_END):
            if self._read_people_at is None or self._read_people_at <= self.now:
                self._read_people_at = steps["directory"](self.now)
            timer_at = steps["timers"](self.now)
            effect_at = steps["delivery"](self.now) if self.delivering else None
            if all(at is None or at > self.now for at in (timer_at, effect_at, self._next_due())):
                return
        raise AssertionError("there is always something due now")

    # the scheduler reports

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

    def nominal_before(self, job: str, at: datetime) -> datetime:
        schedule = self.service.policies.current.job(key_of(job)).schedule
        found = cron.latest_at_or_before(schedule, at) if schedule else None
        return found or at

    # people

    def clicks(self, person: str, label: str, job: str, *, number: int | None = None, **more: Any) -> Told:
        """Click the newest button with this label in the job's thread (of its occurrence `number`)."""
        message = self._message_with(label, job, number)
        return self.clicks_on(person, label, message, **more)

    def clicks_on(self, person: str, label: str, message: Json, **more: Any) -> Told:
        """Click a button of a message, as it stood when it was looked at."""
        self.clock.tick()
        button = buttons(message)[label]
        place = {"channel": message["channel"], "ts": message["ts"]}
        before = len(self.stage.slack.ephemerals(PEOPLE[person]))
        answer = self.stage.slack.click(
            user=PEOPLE[person], action_id=button["action_id"], block_id=button["block_id"], **place, **more
        )
        self.settles()
        whispers = self.stage.slack.ephemerals(PEOPLE[person])[before:]
        return Told(text="\n".join(self.text_of(each) for each in whispers), status=answer["status"])

    def submits(self, person: str, **values: Any) -> Told:
        """Fill in the modal on the person's screen and send it; instants may be written as words."""
        self.clock.tick()
        until = values.get("until")
        if isinstance(until, str):
            values["until"] = int(next_at(until, self.now).timestamp())
        answer = self.stage.slack.submit(user=PEOPLE[person], values=values)
        self.settles()
        view = self.screen(person)
        errors = "\n".join(f"{name}: {said}" for name, said in (answer.get("errors") or {}).items())
        return Told(text=view, errors=errors, status=answer.get("status"))

    def presses(self, person: str, label: str) -> Told:
        """Press a button of the modal on the person's screen."""
        self.clock.tick()
        view = self.stage.slack.view_of(PEOPLE[person])
        assert view is not None, f"{person} has no modal open"
        button = buttons(view)[label]
        answer = self.stage.slack.click(
            user=PEOPLE[person], action_id=button["action_id"], block_id=button["block_id"], view_id=view["id"]
        )
        self.settles()
        return Told(text=self.screen(person), status=answer["status"])

    def screen(self, person: str) -> str:
        """The modal that is open before the person, as text."""
        view = self.stage.slack.view_of(PEOPLE[person])
        return f"{view['title']['text']}\n{self.text_of(view)}" if view else ""

    def types(self, person: str, command: str, channel: str = "finance") -> str:
        """A slash command, and what only this person reads of its answer."""
        name, _, text = command.partition(" ")
        user = PEOPLE[person]
        before = len(self.stage.slack.ephemerals(user))
        self.stage.slack.command(user=user, channel=CHANNELS[channel], command=name, text=text)
        return "\n".join(self.text_of(each) for each in self.stage.slack.ephemerals(user)[before:])

    # what is seen

    def root(self, job: str, *, number: int | None = None) -> Json:
        """The root message of the job's newest (or that) occurrence."""
        return self.messages(job, number=number)[0]

    def messages(self, job: str, *, number: int | None = None) -> list[Json]:
        channel, ts = self.place(job, number=number)
        return [{**message, "channel": channel} for message in self.stage.slack.thread(channel, ts)]

    def thread(self, job: str, *, number: int | None = None) -> str:
        """The whole thread as people read it."""
        return "\n---\n".join(self.text_of(message) for message in self.messages(job, number=number))

    def replies(self, job: str, *, number: int | None = None) -> list[str]:
        """The texts of the replies, oldest first."""
        return [self.text_of(message) for message in self.messages(job, number=number)[1:]]

    def place(self, job: str, *, number: int | None = None) -> tuple[str, str]:
        incident = self.incident(job, number=number)
        found = self.service.storage.reads.conversation_of(record=incident.record, number=incident.number)
        assert found is not None, f"{job} has no thread"
        assert found[1] is not None, f"the root of {job} was not posted"
        return found[0], found[1]

    def channel(self, name: str) -> list[str]:
        """What stands in the channel itself, oldest first."""
        return [self.text_of(message) for message in self.stage.slack.messages(CHANNELS[name])]

    def direct(self, person: str) -> list[str]:
        """The bot's direct messages to the person."""
        state = self.stage.slack.state()
        ids = [each["id"] for each in state["channels"] if each.get("is_im") and PEOPLE[person] in each["members"]]
        return [self.text_of(message) for each in ids for message in self.stage.slack.messages(each)]

    def mentions(self) -> list[Mention]:
        """Whose phone rang, in the order in which it did: posts only, since edits notify nobody."""
        found = []
        for row in self.posted():
            channel, message = row["result"]["channel"], row["result"]["message"]
            for sign in pinged(message):
                at = datetime.fromisoformat(row["at"]).astimezone(UTC)
                who, where = NAMES.get(sign, sign), NAMES.get(channel, channel)
                found.append(Mention(at=at, who=who, channel=where, text=self.text_of(message)))
        return found

    def posted(self) -> list[Json]:
        """The posts that the workspace has accepted, as rows of its journal."""
        return self.stage.slack.journal(method="chat.postMessage", since=self.stage.began_with)

    def text_of(self, message: Json) -> str:
        return self.stage.slack.text_of(message)

    # what is so

    def incident(self, job: str, *, number: int | None = None) -> Incident:
        """The job's newest occurrence (or that number of it)."""
        found = [one for one in self.incidents(job) if number in (None, one.number)]
        assert found, f"{job} has no incident"
        return found[0]

    def incidents(self, job: str = "*") -> tuple[Incident, ...]:
        """Its occurrences, the newest first."""
        return self.service.storage.reads.incidents(which=Which.ALL, jobs=f"{SCHEDULER}/{job}", limit=1000)

    def reruns(self) -> list[SchedulerRequest]:
        """The reruns that the scheduler was asked for, each call of it."""
        return self.scheduler.requests(Action.RERUN)

    def timeline(self, job: str) -> tuple[TimelineRow, ...]:
        incident = self.incident(job)
        return self.service.storage.reads.timeline(record=incident.record, number=incident.number)

    def reasons(self, job: str) -> str:
        """The timeline's reasons, a line each."""
        return "\n".join(f"{row.kind}: {row.reason}" for row in self.timeline(job))

    def outbox(self, *states: EffectState) -> tuple[EffectRow, ...]:
        return self.service.storage.reads.outbox(states=states or tuple(EffectState), limit=10_000)

    def used(self, job: str) -> float:
        """The run hours of the job's automatic allowance that are booked in this period."""
        policy = self.service.policies.current.job(key_of(job))
        booked = self.service.storage.reads.booked(scopes=scopes_of(key_of(job), policy, self.now))
        return sum(amount for scope, amount in booked.items() if scope.name.startswith("job:"))

    # the process

    @contextmanager
    def undelivered(self) -> Iterator[None]:
        """Inside nothing leaves: the deliverers are busy elsewhere."""
        self.delivering = False
        yield
        self.delivering = True
        self.settles()

    def has_policies(self, text: str) -> None:
        """policies.yaml is edited, and found changed."""
        self.policies = text
        self._policies_path.write_text(text)
        self.service.look_at_policies(self.now)
        self._read_people_at = None
        self.settles()

    def dies_when(self, moment: Callable[[], bool]) -> None:
        """The process will die at that moment, in the middle of whatever it does; nothing of it is left but its rows."""
        self._process.dies_when = moment

    def kill(self) -> None:
        """The process dies where it stands and is started again on the same database."""
        self._drop()
        self._start()

    def close(self) -> None:
        self._drop()
        self._http.close()

    def _drop(self) -> None:
        self.stage.door.app = None
        for close in self.service.closing:
            close()
        self.service.storage.close()

    def _start(self) -> None:
        env = {
            "DATABASE_URL": self.database_url,
            "POLICIES": str(self._policies_path),
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": f"{self.stage.slack_url}/api/",
            "SOURCE_TOKENS": f"{SCHEDULER}:{SOURCE_TOKEN}",
            "STATE_DIR": str(self.directory / "state"),
        }
        self._process = ProcessClock(self.clock)
        settings = Settings.from_env(env)
        policies = PolicyFile(settings.policies, env={})
        self.service = build(
            settings, policies, pace=self.pace, threads=0, clock=self._process, connect=lambda spec: self.scheduler
        )
        self.service.follow_policies()
        self.stage.door.app = self.service.app
        self._read_people_at = self.service.steps["directory"](self.now)

    @property
    def _policies_path(self) -> Path:
        return self.directory / "policies.yaml"

    def _next_due(self) -> datetime | None:
        storage = self.service.storage
        due = (storage.next_timer_at(), storage.next_effect_at(now=self.now) if self.delivering else None)
        return min((at for at in due if at is not None), default=None)

    def _reported(
        self, kind: str, job: str, *, at: str | None, nominal: str | datetime | None, took: timedelta | None = None, **more: Any
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

    def _message_with(self, label: str, job: str, number: int | None) -> Json:
        messages = self.messages(job, number=number)
        found = [message for message in messages if label in buttons(message)]
        shown = [list(buttons(message)) for message in messages]
        assert found, f"no button {label} in the thread of {job}, only {shown}"
        return found[-1]


def key_of(job: str) -> JobKey:
    return JobKey(scheduler=SCHEDULER, name=job)
