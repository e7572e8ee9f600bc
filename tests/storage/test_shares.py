"""Which effects a process claims and is born with, when requests to some schedulers are for others."""

from bot.incidents.keys import JobKey
from bot.store import EffectKind, NewEffect, Share
from storage.opening import SqlStorage
from tests.storage.samples import NOW, incident, minutes, reply, request, root_posted, stored

ELSEWHERE = JobKey(scheduler="airflow", name="orders")
OTHERS = Share(without=frozenset({"cron"}))
LEADERS = Share(only=frozenset({"cron"}))


def look(key: str) -> NewEffect:
    return NewEffect(key=key, kind=EffectKind.LOOK, content={"action": "rerun"}, due_at=NOW)


def two_jobs_wait(storage: SqlStorage) -> None:
    """One beside the leader and one elsewhere, each with a note, a request and a look."""
    stored(storage, incident(), reply("note-1"), request("rerun-1"), look("look-1"))
    stored(storage, incident(job=ELSEWHERE), reply("note-2"), request("rerun-2"), look("look-2"))
    root_posted(storage)


def claimed(storage: SqlStorage, share: Share) -> set[str]:
    return {row.key for row in storage.claim_effects(now=NOW, limit=9, share=share)}


def test_a_share_leaves_out_the_requests_and_looks_of_a_scheduler_but_no_note(storage: SqlStorage) -> None:
    two_jobs_wait(storage)

    assert claimed(storage, OTHERS) == {"note-1", "note-2", "rerun-2", "look-2"}
    assert claimed(storage, LEADERS) == {"rerun-1", "look-1"}


def test_a_share_of_one_schedulers_requests_has_nothing_else(storage: SqlStorage) -> None:
    two_jobs_wait(storage)

    assert claimed(storage, LEADERS) == {"rerun-1", "look-1"}
    assert claimed(storage, Share()) == {"note-1", "note-2", "rerun-2", "look-2"}


def test_nothing_is_due_for_a_process_whose_share_is_done(storage: SqlStorage) -> None:
    """Else it would look again at once, for ever."""
    stored(storage, incident(), request("rerun-1", due_at=NOW - minutes(1)), thread=False)

    assert storage.next_effect_at(now=NOW, share=OTHERS) is None
    assert storage.next_effect_at(now=NOW, share=LEADERS) == NOW
    assert storage.next_effect_at(now=NOW) == NOW


def test_a_view_is_due_for_all_but_those_that_perform_requests_alone(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("note-1"))

    assert storage.next_effect_at(now=NOW, share=OTHERS) == NOW
    assert storage.next_effect_at(now=NOW, share=LEADERS) is None


def test_only_what_is_in_the_share_is_born_leased(storage: SqlStorage) -> None:
    _, mine = stored(storage, incident(), request("rerun-1"), born_leased=True, share=OTHERS)
    _, ours = stored(storage, incident(job=ELSEWHERE), request("rerun-2"), born_leased=True, share=OTHERS)

    assert mine.effects == ()
    assert [row.key for row in ours.effects] == ["rerun-2"]
    assert claimed(storage, LEADERS) == {"rerun-1"}


def test_what_a_share_claims_is_what_it_holds(storage: SqlStorage) -> None:
    """The rule is written twice, for rows that are born and for rows that are claimed."""
    for share in (Share(), OTHERS, LEADERS, Share(only=frozenset())):
        job = JobKey(scheduler="cron", name=f"job {share}")
        away = JobKey(scheduler="airflow", name=f"job {share}")
        effects = [(one, kind) for one in (job, away) for kind in (EffectKind.REQUEST, EffectKind.LOOK)]
        for one, kind in effects:
            key = f"{one} {kind} {share}"
            effect = NewEffect(key=key, kind=kind, content={"action": "rerun"}, due_at=NOW)
            stored(storage, incident(job=JobKey(scheduler=one.scheduler, name=key)), effect, thread=False)

        expected = {f"{one} {kind} {share}" for one, kind in effects if share.holds(kind, one.scheduler)}
        assert claimed(storage, share) == expected
        storage.claim_effects(now=NOW, limit=9)
