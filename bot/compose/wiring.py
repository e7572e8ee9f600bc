"""Builds a service from its settings: storage, use cases, adapters and doors, and the threads that drive them."""

import socket
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from uuid import uuid4

from bot.compose.common import Common
from bot.compose.delivery_side import DeliveryParts, delivery_side
from bot.compose.ending import Senders
from bot.compose.leading import Leadership
from bot.compose.mail_side import LATE, MAILBOX, mail_side, record_url
from bot.compose.people import FollowedDirectory
from bot.compose.post import Post, post_of
from bot.compose.queue_side import QUEUES, Queues
from bot.compose.roles import Role, check_database
from bot.compose.schedulers import Connect, Schedulers, connected
from bot.compose.service import LEADING, Service, Step, utc_now
from bot.compose.slack_side import SOCKETS, slack_of
from bot.compose.source_side import LINEAGE, source_side
from bot.compose.team_side import team_side
from bot.compose.thread_url import ThreadUrl
from bot.compose.ticking import tickers_of
from bot.compose.web_side import WebParts, WebSide, web_side
from bot.delivery import Deliverer, Pace
from bot.directory import DirectoryRefresher
from bot.incidents.policy import Door
from bot.intake import Inbound, Intake
from bot.intake.following import Following
from bot.intake.worlds import Worlds
from bot.policies import Policies, PolicyFile
from bot.ports import Clock
from bot.reads import Records
from bot.settings import Settings
from bot.signed import Signer
from bot.silence import Silence
from bot.sources import SourceEvent
from bot.store import EVERYTHING, Committed, Share
from bot.timers import Timers
from handlers.ticker import Ticker
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage
from storage.together import open_hints, open_leader

DELIVERERS = 16
RERUNS_KNOWN = 200
"""So many of a job's last reruns are known again by their runs."""
SLACKS_PACE = Pace()


def build(
    settings: Settings,
    policies: PolicyFile,
    *,
    role: Role = Role.RUN,
    pace: Pace = SLACKS_PACE,
    threads: int = DELIVERERS,
    clock: Clock = utc_now,
    connect: Connect = connected,
    post: Post | None = None,
) -> Service:
    """Build the service of one process. Only `run` migrates. Raises `NeedsPostgres` and what opening the database raises.

    `post` stands in for the mail server and mailbox of the settings.

    `threads` 0: nothing is sent in a thread of its own; private answers go out before the click is answered, everything
    else when a step is called.
    """
    check_database(role, settings.database_url)
    if role is Role.RUN:
        migrate(settings.database_url)
    instance = f"{role}-{socket.gethostname()}-{uuid4().hex[:8]}"
    storage = open_storage(settings.database_url, instance=instance)
    senders = Senders(threads) if threads else None
    post = post or post_of(settings, clock)
    return _Wiring(settings, policies, storage, role, pace, senders, clock, connect, post).service()


class _Wiring:
    """Knows how the parts hang together; circles, such as intake -> delivery -> intake, are closed through its methods."""

    def __init__(
        self,
        settings: Settings,
        policies: PolicyFile,
        storage: SqlStorage,
        role: Role,
        pace: Pace,
        senders: Senders | None,
        clock: Clock,
        connect: Connect,
        post: Post | None,
    ) -> None:
        self._settings = settings
        self._policies = policies
        self._storage = storage
        self._role = role
        self._service: Service | None = None
        self._senders = senders
        self._clock = clock
        self._signer = Signer(settings.secret_key) if settings.secret_key is not None else None
        self._slack = slack_of(settings, clock)
        leader = open_leader(settings.database_url) if role.may_lead else None
        self._leadership = Leadership(leader, gained=self._begin_to_lead, leading=self._lead)
        refresher = DirectoryRefresher(source=self._slack, storage=storage, policies=self._current, clock=clock)
        self._directory = FollowedDirectory(refresher=refresher, storage=storage, leads=self._leads)
        self._schedulers = Schedulers(
            state=settings.state_dir,
            base=policies.path.absolute().parent,
            clock=clock,
            report=self._report,
            woken=lambda: self._poke("schedulers", clock()),
            connect=connect,
            asked=lambda job: storage.reads.rerun_keys(job, most=RERUNS_KNOWN),
        )
        self._queues = Queues(self._schedulers, leads=self._leads, clock=clock)
        worlds = Worlds(
            policies=self._current,
            people=self._directory.people,
            schedulers=self._schedulers.all,
            doors=frozenset({Door.CHANNEL, Door.DM} | ({Door.EMAIL} if post is not None else set())),
        )
        self._thread_url = ThreadUrl(self._slack)
        self._records = Records(
            reads=storage.reads,
            worlds=worlds,
            people=self._directory.people,
            clock=clock,
            thread_url=self._thread_url,
            record_url=record_url(self._signer, settings.public_url, clock),
        )
        self._teams = team_side(
            storage=storage,
            policies=self._current,
            people=self._directory.people,
            thread_url=self._thread_url,
            snapshot_of=self._records.snapshot,
            clock=clock,
            written=self._written,
            read_for=lambda: refresher.complete_for,
            leads=self._leads,
            mails=post is not None,
        )
        self._intake = Intake(
            storage=storage,
            reads=storage.reads,
            worlds=worlds,
            clock=clock,
            committed=self._committed,
            born_leased=senders is not None and role.sends_at_once,
            share=self._share,
        )
        self._silence = Silence(
            store=storage,
            take_in=self._intake.take_in,
            heard=self._intake.heard,
            policies=self._current,
            leads=self._leads,
        )
        self._following = Following(
            waits=storage, reads=storage.reads, policy_of=worlds.policy_of, take_in=self._intake.take_in
        )
        self._timers = Timers(storage=storage, take_in=self._intake.take_in)
        common = self._common()
        self._sources = source_side(common, worlds=worlds, later=lambda at: self._poke(LINEAGE, at))
        self._mail = mail_side(common, post, written=self._written)
        self._deliverer = self._delivery(common, pace)
        self._web = self._answering(common)

    def _common(self) -> Common:
        return Common(
            settings=self._settings,
            policy_file=self._policies,
            storage=self._storage,
            slack=self._slack,
            signer=self._signer,
            directory=self._directory,
            thread_url=self._thread_url,
            records=self._records,
            take_in=self._intake.take_in,
            clock=self._clock,
            leads=self._leads,
        )

    def service(self) -> Service:
        web = self._web
        steps: dict[str, Step] = {
            "timers": self._timers.step,
            "delivery": self._deliver,
            "schedulers": self._drive,
            "polling": lambda now: self._schedulers.poll(now) if self._leads() else None,
            "directory": self._look_around,
            "digests": self._teams.hand_over,
            LINEAGE: self._sources.look_at_lineage,
            "silence": self._silence.step,
            "downstream": self._follow,
            QUEUES: self._queues.step,
        }
        if web.slack.sockets is not None:
            steps[SOCKETS] = web.slack.sockets.step
        if self._mail is not None and self._role.may_lead:
            steps[LATE] = self._look_at_late
            if self._mail.door is not None:
                steps[MAILBOX] = self._mail.door.step
        tickers: dict[str, Ticker] = {}
        self._service = Service(
            role=self._role,
            settings=self._settings,
            policies=self._policies,
            storage=self._storage,
            intake=self._intake,
            schedulers=self._schedulers,
            directory=self._directory,
            leadership=self._leadership,
            records=self._records,
            app=web.app,
            tickers=tickers,
            steps=steps,
            clock=self._clock,
            silence=self._silence,
            open_hints=lambda woken: open_hints(self._settings.database_url, woken=woken),
            parting=[*self._parting()],
            closing=[*web.first, *self._ending(), *web.last],
        )
        driven: dict[str, Step] = {**steps, "policies": self._service.look_at_policies, LEADING: self._leadership.step}
        tickers |= tickers_of(self._role, driven, clock=self._clock)
        return self._service

    def _parting(self) -> Iterator[Callable[[], None]]:
        """Waits that end, so that the threads can."""
        yield self._queues.close
        if self._mail is not None and self._mail.door is not None:
            yield self._mail.door.close

    def _ending(self) -> Iterator[Callable[[], None]]:
        """What is under way is sent, then no mail any more."""
        if self._senders is not None:
            yield self._senders.end
        if self._mail is not None:
            yield self._mail.close

    def _leads(self) -> bool:
        return self._leadership.leads

    def _begin_to_lead(self) -> None:
        if self._service is not None:
            self._service.begin_to_lead()

    def _lead(self) -> None:
        if self._service is not None:
            self._service.lead()

    def _deliver(self, now: datetime) -> datetime | None:
        """A clock leaves sending to the workers, unless it leads and jobs run beside it: then their requests are its own."""
        if self._role is Role.CLOCK and not (self._schedulers.local() and self._leads()):
            return None
        return self._deliverer.step(now)

    def _share(self) -> Share:
        """Requests to jobs that run beside the leader are the leader's own; a clock that leads performs nothing else."""
        local = frozenset(self._schedulers.local())
        if not self._leads():
            return Share(without=local)
        return Share(only=local) if self._role is Role.CLOCK else EVERYTHING

    def _drive(self, now: datetime) -> datetime | None:
        return self._schedulers.step(now) if self._leads() else None

    def _follow(self, now: datetime) -> datetime | None:
        """What waits downstream of something owed."""
        return self._following.step(now) if self._leads() else None

    def _look_around(self, now: datetime) -> datetime | None:
        """What is read from the workspace outside every transaction: its address and its people."""
        self._thread_url.learn()
        again = self._directory.step(now)
        self._teams.directory_read(now)
        return again

    def _look_at_late(self, now: datetime) -> datetime | None:
        """What does not reach the workspace goes by mail; only the leader says so."""
        if self._mail is None or not self._leads():
            return None
        self._directory.read_broken(now)
        return self._mail.late.step(now)

    def _written(self) -> None:
        """A message that no decision wrote waits to be sent."""
        self._committed(Committed(more=True))

    def _current(self) -> Policies:
        return self._policies.current

    def _report(self, events: Sequence[SourceEvent]) -> None:
        self._intake.take_in([Inbound(key=event.key, event=event) for event in events])

    def _committed(self, left: Committed) -> None:
        self._deliverer.dispatch(left)
        if left.next_timer_at is not None:
            self._poke("timers", left.next_timer_at)
        leaves_all = not self._role.sends_at_once
        if leaves_all:
            self._poke("delivery", self._clock())
        if self._service is not None and (leaves_all or left.effects or left.views or left.next_timer_at is not None):
            self._service.hint()

    def _poke(self, name: str, at: datetime) -> None:
        if self._service is not None:
            self._service.poke(name, at)

    def _poke_delivery(self, at: datetime) -> None:
        """A row was done with, or waits: what comes next is for this process, or for those that claim."""
        if "delivery" in self._role.threads:
            self._poke("delivery", at)
        elif self._service is not None:
            self._service.hint()

    def _handed(self, at: datetime) -> None:
        if self._service is not None:
            self._service.hint()

    def _delivery(self, common: Common, pace: Pace) -> Deliverer:
        return delivery_side(
            DeliveryParts(
                common=common,
                mailer=self._mail.mailer if self._mail is not None else None,
                take_in=self._mail.take_in if self._mail is not None else common.take_in,
                schedulers=self._schedulers,
                pace=pace,
                senders=self._senders,
                share=self._share,
                poke=self._poke_delivery,
                handed=self._handed,
            )
        )

    def _answering(self, common: Common) -> WebSide:
        return web_side(
            WebParts(
                common=common,
                answers=self._role.answers,
                at_once=self._senders is None,
                teams=self._teams,
                mail=self._mail,
                sources=self._sources,
                wake=lambda: self._poke(SOCKETS, self._clock()),
            )
        )
