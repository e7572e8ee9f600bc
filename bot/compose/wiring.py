"""Builds a service from its settings: storage, use cases, adapters and doors, and the threads that drive them."""

import logging
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from uuid import uuid4

from prometheus_client import CollectorRegistry

from bot.adapters.off import NoChat
from bot.adapters.slack import SlackChat
from bot.compose.schedulers import Connect, Schedulers, connected
from bot.compose.service import Service, Step, utc_now
from bot.delivery import Deliverer, Pace
from bot.delivery.messages import Messenger
from bot.delivery.requests import Requester
from bot.delivery.views import Views
from bot.directory import DirectoryRefresher
from bot.incidents.policy import Door
from bot.intake import Inbound, Intake
from bot.intake.worlds import Worlds
from bot.policies import Policies, PolicyFile
from bot.ports import Chat, Clock, SendFailed
from bot.reads import Records
from bot.render.modal_parts import CauseChoice
from bot.settings import Settings
from bot.sources import SourceEvent
from bot.store import Committed, StorageDown
from bot.timers import Timers
from handlers.events import events_door
from handlers.health import OK, Health
from handlers.http import web_app
from handlers.meters import Meters
from handlers.slack.answers import PrivateAnswers
from handlers.slack.app import slack_door
from handlers.ticker import Ticker
from handlers.tokens import SourceTokens
from handlers.wire import Door as HttpDoor
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage

log = logging.getLogger(__name__)

DELIVERERS = 16
SLACKS_PACE = Pace()
POLICIES_EVERY = timedelta(seconds=5)


def build(
    settings: Settings,
    policies: PolicyFile,
    *,
    pace: Pace = SLACKS_PACE,
    threads: int = DELIVERERS,
    clock: Clock = utc_now,
    connect: Connect = connected,
) -> Service:
    """Build the service of one process (`run`). Raises what opening the database raises.

    `threads` 0: nothing is sent in a thread of its own; private answers go out before the click is answered, everything
    else when a step is called.
    """
    migrate(settings.database_url)
    instance = f"{socket.gethostname()}-{uuid4().hex[:8]}"
    storage = open_storage(settings.database_url, instance=instance)
    executor = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="deliver") if threads else None
    return _Wiring(settings, policies, storage, pace, executor, clock, connect).service()


class _Wiring:
    """Knows how the parts hang together; the circle intake -> delivery -> intake is closed through its methods."""

    def __init__(
        self,
        settings: Settings,
        policies: PolicyFile,
        storage: SqlStorage,
        pace: Pace,
        executor: ThreadPoolExecutor | None,
        clock: Clock,
        connect: Connect,
    ) -> None:
        self._settings = settings
        self._policies = policies
        self._storage = storage
        self._tickers: dict[str, Ticker] = {}
        self._executor = executor
        self._clock = clock
        self._slack = _slack(settings, clock)
        self._directory = DirectoryRefresher(source=self._slack, storage=storage, policies=self._current, clock=clock)
        self._schedulers = Schedulers(
            state=settings.state_dir,
            base=policies.path.absolute().parent,
            clock=clock,
            report=self._report,
            woken=lambda: self._poke("schedulers", clock()),
            connect=connect,
        )
        worlds = Worlds(
            policies=self._current,
            people=self._directory.people,
            schedulers=self._schedulers.all,
            doors=frozenset({Door.CHANNEL, Door.DM}),
        )
        self._thread_url = _ThreadUrl(self._slack)
        self._records = Records(
            reads=storage.reads,
            worlds=worlds,
            people=self._directory.people,
            clock=clock,
            thread_url=self._thread_url,
        )
        self._intake = Intake(
            storage=storage,
            reads=storage.reads,
            worlds=worlds,
            rules=lambda: self._current().rules,
            clock=clock,
            committed=self._committed,
            born_leased=executor is not None,
        )
        self._timers = Timers(storage=storage, take_in=self._intake.take_in)
        self._deliverer = self._delivery(pace)

    def service(self) -> Service:
        private = PrivateAnswers(to=self._slack, at_once=self._executor is None) if self._slack is not None else None
        meters = Meters(CollectorRegistry())
        health = Health(checks=self._checks(), clock=self._clock)
        app = web_app(doors=self._doors(meters, private), health=health, meters=meters)
        steps: dict[str, Step] = {
            "timers": self._timers.step,
            "delivery": self._deliverer.step,
            "schedulers": self._schedulers.step,
            "directory": self._look_around,
        }
        self._tickers |= {name: Ticker(step=step, clock=self._clock) for name, step in steps.items()}
        closing: list[Callable[[], None]] = []
        if self._executor is not None:
            closing.append(partial(self._executor.shutdown, wait=True))
        if private is not None and self._slack is not None:
            closing += [private.close, self._slack.close]
        service = Service(
            settings=self._settings,
            policies=self._policies,
            storage=self._storage,
            intake=self._intake,
            schedulers=self._schedulers,
            directory=self._directory,
            records=self._records,
            app=app,
            tickers=self._tickers,
            steps=steps,
            clock=self._clock,
            closing=closing,
        )
        self._tickers["policies"] = Ticker(
            step=service.look_at_policies, clock=self._clock, at_least_every=POLICIES_EVERY
        )
        return service

    def _look_around(self, now: datetime) -> datetime | None:
        """What is read from the workspace outside every transaction: its address and its people."""
        self._thread_url.learn()
        return self._directory.step(now)

    def _current(self) -> Policies:
        return self._policies.current

    def _report(self, events: Sequence[SourceEvent]) -> None:
        self._intake.take_in([Inbound(key=event.key, event=event) for event in events])

    def _committed(self, left: Committed) -> None:
        self._deliverer.dispatch(left)
        if left.next_timer_at is not None:
            self._poke("timers", left.next_timer_at)

    def _poke(self, name: str, at: datetime) -> None:
        if name in self._tickers:
            self._tickers[name].poke(at)

    def _delivery(self, pace: Pace) -> Deliverer:
        chat: Chat = self._slack or NoChat()
        views = Views(
            storage=self._storage,
            chat=chat,
            snapshot_of=self._records.snapshot,
            clock=self._clock,
            pace=pace,
            fallback=lambda: self._current().fallback.channel,
        )
        requester = Requester(
            storage=self._storage, schedulers=self._schedulers.all, take_in=self._intake.take_in, clock=self._clock
        )
        return Deliverer(
            storage=self._storage,
            messenger=Messenger(chat=chat, snapshot_of=self._records.snapshot),
            requester=requester,
            views=views,
            take_in=self._intake.take_in,
            clock=self._clock,
            pace=pace,
            fallback=lambda: self._current().fallback.channel,
            executor=self._executor,
            poke=lambda at: self._poke("delivery", at),
        )

    def _doors(self, meters: Meters, private: PrivateAnswers | None) -> list[HttpDoor]:
        settings = self._settings
        doors = [events_door(tokens=SourceTokens(settings.source_tokens), take_in=self._intake.take_in, meters=meters)]
        if private is not None and settings.slack_signing_secret is not None:
            slack = slack_door(
                signing_secrets=(settings.slack_signing_secret,),
                take_in=self._intake.take_in,
                reads=self._records,
                answers=private,
                causes=self._causes,
                clock=self._clock,
                meters=meters,
            )
            doors.append(slack)
        return doors

    def _causes(self) -> tuple[CauseChoice, ...]:
        rules = self._current().rules
        found = (rules.rule(name) for name in rules.ids())
        return tuple((rule.id, rule.title) for rule in found)

    def _checks(self) -> dict[str, Callable[[], str]]:
        checks: dict[str, Callable[[], str]] = {"database": self._database, "policies": self._policies_state}
        if self._slack is not None:
            checks["slack"] = self._slack_state
        return checks

    def _database(self) -> str:
        try:
            self._storage.next_timer_at()
        except StorageDown as down:
            return str(down)
        return OK

    def _policies_state(self) -> str:
        problems = self._policies.problems
        return f"the file was refused: {problems[0]}" if problems else OK

    def _slack_state(self) -> str:
        try:
            if self._slack is not None:
                self._slack.auth()
        except SendFailed as failed:
            return failed.code
        return OK


class _ThreadUrl:
    """The address of a message, once the workspace's own address was read; asking for it never waits for Slack."""

    def __init__(self, slack: SlackChat | None) -> None:
        self._slack = slack
        self._base: str | None = None

    def __call__(self, channel: str, ts: str) -> str | None:
        return f"{self._base}/archives/{channel}/p{ts.replace('.', '')}" if self._base else None

    def learn(self) -> None:
        """Read the workspace's address, until it is known."""
        if self._base is not None or self._slack is None:
            return
        try:
            self._base = self._slack.auth().url.rstrip("/")
        except SendFailed as failed:
            log.warning("the workspace's address is not known yet", extra={"code": failed.code})


def _slack(settings: Settings, clock: Clock) -> SlackChat | None:
    if settings.slack_bot_token is None:
        return None
    return SlackChat(token=settings.slack_bot_token, clock=clock, base_url=settings.slack_api_url)
