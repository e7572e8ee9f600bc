"""Reads back what was recorded of events and what came of them, for a backtest. It decides nothing and reads no clock.

A long record is read page by page, each a short statement of its own: nobody waits for a reader.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, func, insert, not_, or_, select, text, tuple_

from bot.backtest.history import PastAsk, PastOccurrence, PastRequest, PastRerun, TakenIn
from bot.evidence.types import Evidence
from bot.incidents.absence import Absence
from bot.incidents.effects import ReplyKind
from bot.incidents.events import SchedulerAnswered
from bot.incidents.keys import Action, JobKey
from bot.incidents.policy import Door
from bot.intake.recorded import read_record
from bot.store import EffectKind
from storage import watch
from storage.columns import AnyRow, Instant
from storage.database import Database
from storage.ledger import batch_of
from storage.lineage_tables import lineage_uses
from storage.queue_tables import outbox
from storage.tables import IS_RECORDED, MATTERS, evidence, jobs, ledger, occurrences, reruns
from storage.wait_tables import downstream_waits

PAGE = 5000
FEW = 200
ASKS = frozenset({ReplyKind.ASK, ReplyKind.APPROVAL, ReplyKind.STORM_ASK, ReplyKind.CHRONIC})
"""What calls people by direct message or mail as well; other messages there are quiet notes."""
CALLS = (EffectKind.REPLY, EffectKind.DIRECT, EffectKind.EMAIL)
REQUESTS = (EffectKind.REQUEST, EffectKind.LOOK)

_RECORDED = text(IS_RECORDED)
_FIRST = select(func.min(ledger.c.at, type_=Instant)).where(_RECORDED)
_LAST = select(func.max(ledger.c.at, type_=Instant)).where(_RECORDED)
_FOLLOWING = (
    select(ledger.c.key, ledger.c.at, ledger.c.place, ledger.c.event)
    .where(
        _RECORDED,
        ledger.c.at < bindparam("until"),
        tuple_(ledger.c.at, ledger.c.place) > tuple_(bindparam("at", type_=Instant), bindparam("place")),
    )
    .order_by(ledger.c.at, ledger.c.place)
    .limit(PAGE)
)
_EVIDENCE = select(evidence.c.key, evidence.c.document).where(evidence.c.key.in_(bindparam("keys", expanding=True)))
_OCCURRENCES: Select[Any] = select(
    occurrences.c.record,
    occurrences.c.number,
    jobs.c.scheduler,
    jobs.c.name,
    occurrences.c.cause,
    occurrences.c.opened_at,
    occurrences.c.status,
    occurrences.c.outcome,
    occurrences.c.closed_at,
).join(jobs, jobs.c.id == occurrences.c.job_id)
_OPENED = _OCCURRENCES.where(
    occurrences.c.opened_at >= bindparam("since"), occurrences.c.opened_at < bindparam("until")
).order_by(occurrences.c.opened_at, occurrences.c.record, occurrences.c.number)
_OF_JOB = _OCCURRENCES.where(jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name")).order_by(
    occurrences.c.opened_at, occurrences.c.record, occurrences.c.number
)
_TROUBLED = (
    select(jobs.c.scheduler, jobs.c.name).join(occurrences, occurrences.c.job_id == jobs.c.id).where(text(MATTERS))
)
_WAITS = (
    select(downstream_waits.c.record)
    .where(or_(downstream_waits.c.ended_at.is_(None), not_(downstream_waits.c.told)))
    .limit(1)
)
_RERUNS = (
    select(reruns, jobs.c.scheduler, jobs.c.name)
    .join(jobs, jobs.c.id == reruns.c.job_id)
    .where(reruns.c.at >= bindparam("since"), reruns.c.at < bindparam("until"))
    .order_by(reruns.c.at, reruns.c.key)
)
_USES = select(lineage_uses)
_WRITTEN = (
    select(
        outbox.c.key,
        outbox.c.kind,
        outbox.c.content,
        outbox.c.result,
        outbox.c.created_at,
        outbox.c.settled_at,
        jobs.c.scheduler,
        jobs.c.name,
    )
    .join(jobs, jobs.c.id == outbox.c.job_id)
    .where(
        outbox.c.kind.in_(bindparam("kinds", expanding=True)),
        outbox.c.created_at >= bindparam("since"),
        outbox.c.created_at < bindparam("until"),
    )
    .order_by(outbox.c.created_at, outbox.c.id)
)


class SqlRecord:
    """Implements `bot.backtest.history.Record`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recorded_from(self) -> datetime | None:
        return self._one(_FIRST)

    def recorded_until(self) -> datetime | None:
        return self._one(_LAST)

    def batches(self, *, since: datetime, until: datetime) -> Iterator[Sequence[TakenIn]]:
        batch: list[TakenIn] = []
        for one in self._events(since, until):
            if batch and (batch[0].at, batch[0].batch) != (one.at, one.batch):
                yield batch
                batch = []
            batch.append(one)
        if batch:
            yield batch

    def _events(self, since: datetime, until: datetime) -> Iterator[TakenIn]:
        after: dict[str, Any] = {"at": since, "place": -1}
        while True:
            with self._database.read() as connection:
                page = connection.execute(_FOLLOWING, {**after, "until": until}).all()
            for row in page:
                record = read_record(row.event)
                yield TakenIn(key=row.key, at=row.at, batch=batch_of(row.place), record=record)
            if len(page) < PAGE:
                return
            after = {"at": page[-1].at, "place": page[-1].place}

    def evidence(self, keys: Collection[str]) -> Mapping[str, Evidence]:
        found: dict[str, Evidence] = {}
        wanted = sorted(keys)
        for first in range(0, len(wanted), FEW):
            with self._database.read() as connection:
                rows = connection.execute(_EVIDENCE, {"keys": wanted[first : first + FEW]})
                found |= {row.key: row.document for row in rows}
        return found

    def occurrences(self, *, since: datetime, until: datetime) -> tuple[PastOccurrence, ...]:
        return tuple(_occurrence(row) for row in self._rows(_OPENED, since=since, until=until))

    def occurrences_of(self, job: JobKey) -> tuple[PastOccurrence, ...]:
        return tuple(_occurrence(row) for row in self._rows(_OF_JOB, scheduler=job.scheduler, name=job.name))

    def troubled(self) -> frozenset[JobKey]:
        return frozenset(JobKey(scheduler=row.scheduler, name=row.name) for row in self._rows(_TROUBLED))

    def has_waits(self) -> bool:
        return bool(self._rows(_WAITS))

    def reruns(self, *, since: datetime, until: datetime) -> tuple[PastRerun, ...]:
        return tuple(_rerun(row) for row in self._rows(_RERUNS, since=since, until=until))

    def asks(self, *, since: datetime, until: datetime) -> tuple[PastAsk, ...]:
        called: dict[str, tuple[AnyRow, list[str]]] = {}
        for row in self._rows(_WRITTEN, kinds=CALLS, since=since, until=until):
            who = _called(row)
            if who:
                _, known = called.setdefault(_decision_of(row.key), (row, []))
                known += [one for one in who if one not in known]
        return tuple(
            PastAsk(
                job=JobKey(scheduler=row.scheduler, name=row.name),
                at=row.created_at,
                kind=str(row.content["kind"]),
                who=tuple(who),
            )
            for row, who in called.values()
        )

    def requests(self, *, since: datetime, until: datetime) -> tuple[PastRequest, ...]:
        return tuple(_request(row) for row in self._rows(_WRITTEN, kinds=REQUESTS, since=since, until=until))

    def absences(self, *, since: datetime) -> tuple[Absence, ...]:
        with self._database.read() as connection:
            return watch.absences_since(connection, since)

    def copy_graph(self, into: "SqlRecord") -> None:
        """Who reads and writes which dataset, as it is known now, into an empty database."""
        rows = [dict(row._mapping) for row in self._rows(_USES)]
        if rows:
            with into._database.transaction() as connection:
                connection.execute(insert(lineage_uses), rows)

    def _rows(self, statement: Select[Any], **values: Any) -> Sequence[AnyRow]:
        with self._database.read() as connection:
            return connection.execute(statement, values).all()

    def _one(self, statement: Select[Any]) -> datetime | None:
        with self._database.read() as connection:
            found: datetime | None = connection.execute(statement).scalar_one()
        return found


def _occurrence(row: AnyRow) -> PastOccurrence:
    return PastOccurrence(
        record=row.record,
        number=row.number,
        job=JobKey(scheduler=row.scheduler, name=row.name),
        cause=row.cause,
        opened_at=row.opened_at,
        status=row.status,
        outcome=row.outcome,
        closed_at=row.closed_at,
    )


def _rerun(row: AnyRow) -> PastRerun:
    return PastRerun(
        key=row.key,
        job=JobKey(scheduler=row.scheduler, name=row.name),
        nominal_times=row.nominal_times,
        automatic=row.automatic,
        first=row.first,
        at=row.at,
        by=row.by,
        amount=row.amount,
        unit=row.unit,
        result=row.result,
    )


def _called(row: AnyRow) -> list[str]:
    """Whom the message calls: those whom it mentions, and whoever gets an ask in private."""
    content = row.content
    who = [str(one["id"]) for one in content.get("mention") or () if content.get("thread", True)]
    if row.kind != EffectKind.REPLY and content.get("kind") in ASKS:
        aside = content.get("door") != Door.CHANNEL
        who = [str(content["address"])] if aside else who
    elif row.kind != EffectKind.REPLY:
        who = []
    return who


def _decision_of(key: str) -> str:
    """The effect of which the row is a part: `<record>.<number>/<version>/<index>`, whatever door follows."""
    return "/".join(key.split("/")[:3])


def _request(row: AnyRow) -> PastRequest:
    content = row.content
    answer = _answer(row.result) if row.result else None
    times = msgspec.convert(content.get("nominal_times", ()), tuple[datetime | None, ...])
    return PastRequest(
        key=str(content["key"]),
        action=Action(content["action"]),
        job=JobKey(scheduler=row.scheduler, name=row.name),
        nominal_times=times,
        look=row.kind == EffectKind.LOOK,
        asked_at=row.created_at,
        answer=answer.answer if answer else None,
        message=answer.message if answer else "",
        answered_at=answer.at if answer else row.settled_at,
    )


def _answer(result: Mapping[str, Any]) -> SchedulerAnswered | None:
    try:
        return msgspec.convert(result, SchedulerAnswered)
    except msgspec.ValidationError:
        return None
