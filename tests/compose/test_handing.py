"""A request to a local job that was claimed by a process which leads no more: it is not begun, and the next leader has it."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import pytest

from bot.compose.handing import LEFT_ALONE, HandingRequester
from bot.incidents.keys import JobKey
from bot.incidents.policy import JobPolicy
from bot.intake import Inbound, Outcome
from bot.ports import Scheduler
from bot.store import Share
from storage.opening import SqlStorage, open_storage
from tests.storage.samples import NOW, incident, request, stored

LEADERS = Share(only=frozenset({"cron"}))


class Begun(Exception):
    """The request was not handed over."""


class Process:
    """One that performs requests; `handed` are the instants until which it left rows alone."""

    def __init__(self, storage: SqlStorage, *, leads: bool) -> None:
        self.handed: list[datetime] = []
        self.requester = HandingRequester(
            storage=storage,
            schedulers=self.schedulers,
            take_in=self.take_in,
            clock=lambda: NOW,
            policy_of=self.policy_of,
            at_leader=lambda: {"cron"},
            leads=lambda: leads,
            handed=self.handed.append,
        )

    def schedulers(self) -> Mapping[str, Scheduler]:
        raise Begun

    def take_in(self, inbounds: list[Inbound]) -> list[Outcome]:
        raise Begun

    def policy_of(self, job: JobKey) -> JobPolicy:
        raise Begun


@pytest.fixture
def storage(database_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(database_url, instance="run")
    yield opened
    opened.close()


def test_who_leads_no_more_hands_over_what_it_had_claimed(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"), thread=False)
    (row,) = storage.claim_effects(now=NOW, limit=9)
    process = Process(storage, leads=False)

    assert process.requester.perform(row)

    assert process.handed == [NOW + LEFT_ALONE]
    assert storage.claim_effects(now=NOW, limit=9, share=LEADERS) == ()
    (again,) = storage.claim_effects(now=NOW + LEFT_ALONE, limit=9, share=LEADERS)
    assert (again.key, again.attempt, again.uncertain_at) == ("rerun-1", 0, None)


def test_the_leader_begins_what_it_has_claimed(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"), thread=False)
    (row,) = storage.claim_effects(now=NOW, limit=9)

    with pytest.raises(Begun):
        Process(storage, leads=True).requester.perform(row)
