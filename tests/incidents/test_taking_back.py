"""Words that are taken back: not needed, a fix under confirmation, a correction; and a rerun from the beginning."""

from datetime import timedelta

from bot.incidents.effects import AskScheduler, ToldKind
from bot.incidents.events import CauseCorrected, FixDeclared, NotFixed, NotNeeded, OwedChoice, RerunWanted, StillNeeded
from bot.incidents.keys import Capability
from bot.incidents.memory import JobMemory, marked, marks_of
from bot.incidents.model import Outcome, Status
from tests.incidents.worlds import (
    ALL,
    ANA,
    DAY,
    MINUTE,
    MONDAY,
    SAFE,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    failed,
    mark,
    rerun_of,
    run,
    started,
    succeeded,
    told,
)


def two_owed(cause: str = UNSAFE, world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=cause))
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), cause))
    return play


def owed(play: Play) -> list[object]:
    return [one.nominal_time for one in play.incident.owed]


def test_what_was_not_needed_is_owed_again() -> None:
    play = two_owed()
    play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,)))
    assert owed(play) == [TUESDAY]

    play.tell(StillNeeded(by=by(at=play.now)))

    assert owed(play) == [MONDAY, TUESDAY]
    assert play.incident.waived == ()


def test_what_a_good_run_brought_meanwhile_is_not_owed_again() -> None:
    play = two_owed()
    play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,)))

    decision = play.tell(StillNeeded(by=by(at=play.now)), paid=frozenset({MONDAY}))

    assert told(decision).kind is ToldKind.INVALID
    assert owed(play) == [TUESDAY]


def test_nothing_that_was_never_given_up_becomes_owed() -> None:
    play = two_owed()

    decision = play.tell(StillNeeded(by=by(at=play.now), nominal_times=(TUESDAY + DAY,)))

    assert told(decision).kind is ToldKind.INVALID
    assert owed(play) == [MONDAY, TUESDAY]


def test_a_fix_is_taken_back_while_its_rerun_goes_on() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))
    play.tell(FixDeclared(by=by(at=play.now), what="new key", choices=((MONDAY, OwedChoice.RERUN_NOW),)))

    play.tell(NotFixed(by=by(at=play.now)))

    assert play.incident.fix is None
    assert play.status is Status.RERUNNING
    play.tell(started(rerun_of(), rerun_key=play.all(AskScheduler)[-1].key))
    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=play.all(AskScheduler)[-1].key))
    assert play.incident.outcome is Outcome.RECOVERED


def test_a_correction_is_taken_back_by_naming_the_cause_of_the_rules() -> None:
    play = Play()
    play.tell(failed(cause=UNKNOWN))
    play.tell(CauseCorrected(by=by(at=play.now), cause="data.late_partner"))

    decision = play.tell(CauseCorrected(by=by(at=play.now), cause=UNKNOWN))

    assert play.incident.corrected_cause is None
    (note,) = decision.notes
    assert note.facts["was"] == "data.late_partner"
    assert "correction" not in note.facts


def test_only_another_cause_counts_as_a_correction() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))

    agreed = play.tell(CauseCorrected(by=by(at=play.now), cause=UNSAFE))
    corrected = play.tell(CauseCorrected(by=by(at=play.now), cause="data.late_partner"))

    assert "correction" not in agreed.notes[-1].facts
    assert corrected.notes[-1].facts["correction"] == "wrong_cause"


def test_each_owed_time_starts_afresh_only_where_that_was_chosen() -> None:
    play = two_owed(world=World(changes={"can": ALL | {Capability.FRESH_START}}))
    choices = ((MONDAY, OwedChoice.RERUN_NOW), (TUESDAY, OwedChoice.FRESH_START))
    play.tell(FixDeclared(by=by(at=play.now), what="new version", choices=choices))
    first = play.all(AskScheduler)[-1]

    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=first.key))

    assert [(one.nominal_times, one.fresh) for one in play.all(AskScheduler)] == [
        ((MONDAY,), False),
        ((TUESDAY,), True),
    ]


def test_a_scheduler_that_knows_no_fresh_start_is_asked_for_a_rerun() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))

    play.tell(RerunWanted(by=by(at=play.now), fresh=True))

    assert [one.fresh for one in play.all(AskScheduler)] == [False]


def test_a_mark_of_the_policies_file_is_void_once_it_was_revoked() -> None:
    word = mark(SAFE)
    taken_back = marked(JobMemory(), mark(SAFE), safe=False)

    (void,) = marks_of(taken_back, (word,))

    assert void.void is not None
    assert marks_of(JobMemory(), (word,)) == (word,)


def test_a_later_date_in_the_policies_file_renews_a_revoked_mark() -> None:
    since = mark(SAFE).since
    taken_back = marked(JobMemory(), mark(SAFE), safe=False)
    later = [one for one in marks_of(taken_back, (mark(SAFE, since=since + timedelta(days=1)),)) if one.void is None]

    assert len(later) == 1


def test_a_mark_given_anew_in_slack_ends_the_revocation() -> None:
    taken_back = marked(JobMemory(), mark(SAFE), safe=False)

    given = marked(taken_back, mark(SAFE), safe=True)

    assert given.revoked == ()
    assert [one.void for one in marks_of(given, (mark(SAFE),))] == [None, None]
    assert given.marks[0].by == ANA.id
