"""What pages, commands and figures may look up."""

from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.store import EffectState, Which
from storage.opening import SqlStorage
from tests.storage.samples import JOB, NOW, incident, reply, request, resolved, root_posted, run, saved, stored


def test_occurrences_are_listed_newest_first_by_job(storage: SqlStorage) -> None:
    names = ("finance.daily", "finance.weekly", "sales.daily")
    found = {}
    for number, name in enumerate(names):
        job = JobKey(scheduler="airflow", name=name)
        found[name], _ = stored(storage, incident(job=job, opened_at=NOW + timedelta(hours=number)))
    saved(storage, resolved(found["finance.daily"]))

    def listed(**wanted: str) -> list[str]:
        which = Which(wanted.pop("which", "unresolved"))
        return [one.job.name for one in storage.reads.incidents(which=which, limit=2, **wanted)]

    assert listed() == ["sales.daily", "finance.weekly"]
    assert listed(jobs="airflow/finance.*") == ["finance.weekly"]
    assert listed(jobs="airflow/finance.*", which="all") == ["finance.weekly", "finance.daily"]
    assert listed(jobs="airflow/FINANCE.*", which="all") == []


def test_what_is_not_there_is_told_apart(storage: SqlStorage) -> None:
    assert storage.reads.incident(record=1, number=1) is None
    assert storage.reads.conversation_of(record=1, number=1) is None
    assert storage.reads.occurrence_at(channel="C0DATA", root_ts="1.0") is None
    assert storage.reads.timeline(record=1, number=1) == ()
    assert storage.reads.evidence(key="none") is None
    assert storage.reads.job(key=JOB) is None
    assert storage.reads.good_runs(JOB) == ()
    assert storage.reads.run_facts(job=JOB, run=run()) is None


def test_a_thread_without_root_has_its_channel(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())

    assert storage.reads.conversation_of(record=one.record, number=1) == ("C0DATA", None)


def test_counts_tell_what_is_still_to_be_done(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("evidence"), request("rerun-1"))
    before = storage.reads.counts()
    root_posted(storage)
    for row in storage.claim_effects(now=NOW, limit=9):
        storage.begin_sending(id=row.id, now=NOW)
    after = storage.reads.counts()

    assert (before["incidents.open"], before["timers"], before["jobs"]) == (1, 1, 1)
    assert (before["views"], before["outbox.waiting"], before["outbox.sending"]) == (1, 2, 0)
    assert (after["views"], after["outbox.waiting"], after["outbox.sending"]) == (0, 0, 2)


def test_the_outbox_is_listed_newest_first(storage: SqlStorage) -> None:
    stored(storage, incident(), request("first"), request("second"), request("third"))

    assert [row.key for row in storage.reads.outbox(states=[EffectState.WAITING], limit=2)] == ["third", "second"]
    assert storage.reads.outbox(states=[EffectState.BURIED], limit=2) == ()
