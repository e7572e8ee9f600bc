"""What Maestro's answers mean, by their HTTP codes, and what is read of them; and what a broken line leaves unknown."""

from datetime import timedelta

import pytest

from bot.evidence.cleaning import clean
from bot.incidents.keys import Action
from bot.policies.specs import MaestroSpec
from bot.ports import BY_ITSELF, Looked, Taken
from bot.schedulers.maestro.requests import LONGEST_USER, header_of, request_id_of
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.asker import FLOW, KEY, Asker, refused

RESTART = "/restart$"


def test_what_is_read_of_a_workflow(asker: Asker) -> None:
    run = asker.fails(owner={"name": "data-sales"})
    client = asker.scheduler.client

    overview, definition = client.overview(FLOW), client.definition(FLOW)
    page, aggregated = client.instances(FLOW, first=1), client.instance(FLOW, 1)
    newest = client.steps(FLOW, 1, run="latest")
    attempt = client.step_attempt(FLOW, 1, run=1, step="publish")

    assert (overview.latest_instance_id, overview.failed_instances, overview.active_version_id) == (1, 1, 1)
    assert [trigger.cron for trigger in definition.workflow.time_triggers] == ["0 6 * * *"]
    assert definition.enriched_extras is not None
    assert definition.enriched_extras.next_execution_time is not None
    assert client.definition(FLOW, enriched=False).enriched_extras is None
    assert [(one.workflow_uuid, one.status) for one in page.elements] == [(run.uuid, "FAILED")]
    assert (aggregated.status, client.runs(FLOW, 1).elements[0].workflow_uuid) == ("FAILED", run.uuid)
    assert {step.step_id: step.status for step in newest} == {"load": "SUCCEEDED", "publish": "FATALLY_FAILED"}
    assert (attempt.step_id, attempt.status) == ("publish", "FATALLY_FAILED")
    assert client.changes(FLOW).timeline_events
    assert client.action_map()["FAILED"] == {"RESTART", "UNBLOCK"}
    assert client.server_time


def test_the_pages_of_instances_follow_each_other(asker: Asker) -> None:
    asker.maestro.push(FLOW, strategy="PARALLEL")
    for _ in range(5):
        asker.maestro.started(FLOW)
    client = asker.scheduler.client
    first = client.instances(FLOW, first=2)
    second = client.instances(FLOW, first=2, cursor=first.page_info.end_cursor)

    assert [one.workflow_instance_id for one in (*first.elements, *second.elements)] == [5, 4, 3, 2]
    assert second.page_info.has_next_page


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 412, 422])
def test_no_is_no(asker: Asker, status: int) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer(status, RESTART)

    assert f"Maestro answered {status}" in refused(asker.ask(failed))
    assert asker.ours() == []


@pytest.mark.parametrize("status", [409, 429])
def test_not_now_may_be_asked_again(asker: Asker, status: int) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer(status, RESTART, headers={"Retry-After": "7"})

    answer = asker.ask(failed)

    assert (answer.taken, answer.retry_after) == (Taken.REFUSED, timedelta(seconds=7))
    assert asker.ask(failed).taken is Taken.TAKEN


@pytest.mark.parametrize("kind", [500, 502, 408, "lose", "drop", "late", "garbage"])
def test_whether_it_was_taken_is_not_known_without_an_answer(asker: Asker, kind: int | str) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer(kind, RESTART)

    assert asker.ask(failed).taken is Taken.UNCERTAIN
    assert asker.look(failed) is (Looked.STARTED if asker.ours() else Looked.NOT_STARTED)


@pytest.mark.parametrize("path", ["/runs/latest$", "/overview$", "/action-map$"])
@pytest.mark.parametrize("kind", [500, 408, "drop", "garbage"])
def test_whatever_goes_wrong_before_the_request_has_changed_nothing(asker: Asker, path: str, kind: int | str) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer(kind, path)

    answer = asker.ask(failed)

    if path == "/action-map$":
        assert answer.taken is Taken.TAKEN
    else:
        assert (answer.taken, answer.retry_after) == (Taken.REFUSED, timedelta(seconds=10))
        assert asker.changed() == []


def test_a_maestro_that_hangs_is_given_up_in_time(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer("hang", RESTART)

    with asker.scheduler.client.within(timedelta(seconds=0.5)):
        answer = asker.ask(failed)

    assert answer.taken is Taken.UNCERTAIN
    assert "in time" in answer.message


def test_nobody_there_is_nothing_asked(asker: Asker) -> None:
    failed = asker.fails()
    spec = MaestroSpec(name="maestro-prod", url="http://127.0.0.1:9", user="ontrack", workflows=(FLOW,))
    scheduler = MaestroScheduler(spec, clock=lambda: MONDAY)

    answer = scheduler.ask(asker.request(failed))

    assert (answer.taken, answer.retry_after) == (Taken.REFUSED, timedelta(seconds=10))
    assert scheduler.look(asker.request(failed)) is Looked.CANNOT_TELL


def test_an_internal_error_in_a_good_answer_is_looked_into(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails()
    body = {"workflow_id": FLOW, "workflow_uuid": str(request_id_of(KEY)), "status": "INTERNAL_ERROR"}
    answer = asker.maestro.answered
    monkeypatch.setattr(
        asker.maestro, "answered", lambda asked: (200, body) if asked.method == "POST" else answer(asked)
    )

    assert "an internal error" in refused(asker.ask(failed))


def test_an_answer_about_another_run_is_no_answer(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails()
    body = {"workflow_id": "sales.parent", "workflow_uuid": str(request_id_of("another")), "status": "CREATED"}
    answer = asker.maestro.answered
    monkeypatch.setattr(
        asker.maestro, "answered", lambda asked: (200, body) if asked.method == "POST" else answer(asked)
    )

    assert asker.ask(failed).taken is Taken.UNCERTAIN
    assert asker.look(failed) is Looked.NOT_STARTED


def test_reads_raise_by_kind(asker: Asker) -> None:
    client, maestro = asker.scheduler.client, asker.maestro
    maestro.push(FLOW)
    for kind, raised in ((404, Refused), (500, Unwell), ("garbage", Unwell), ("drop", NoAnswer)):
        maestro.fails_to_answer(kind, "/overview$")
        with pytest.raises(raised):
            client.overview(FLOW)
    with pytest.raises(NotSent), client.within(timedelta()):
        client.overview(FLOW)


def test_the_table_of_what_may_be_asked_is_maestros_own(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails()
    answer = asker.maestro.answered
    monkeypatch.setattr(
        asker.maestro,
        "answered",
        lambda asked: (200, {"FAILED": ["UNBLOCK"]}) if asked.path.endswith("action-map") else answer(asked),
    )

    assert "lets no run be started again that is FAILED" in refused(asker.ask(failed))
    assert asker.ask(failed).taken is Taken.REFUSED
    assert len(asker.maestro.calls("GET", "action-map$")) == 1


def test_a_name_with_a_slash_stays_one_name(asker: Asker) -> None:
    name = "sales/daily ü?x#y"
    asker.maestro.push(name, cron="0 6 * * *")
    run = asker.maestro.scheduled(name, MONDAY)
    asker.maestro.fails_for_good(run, "load")

    assert asker.ask(run).taken is Taken.TAKEN


def test_secrets_in_a_refusal_are_masked(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails()
    secret = "postgresql://loader:hunter2secret@db/sales"
    body = {"status": "BAD_REQUEST", "message": f"cannot reach {secret}", "errors": ["twice", "twice"]}
    answer = asker.maestro.answered
    monkeypatch.setattr(
        asker.maestro, "answered", lambda asked: (400, body) if asked.method == "POST" else answer(asked)
    )

    message = refused(asker.ask(failed))

    assert "hunter2secret" not in message
    assert message.count("twice") == 1


@pytest.mark.parametrize("name", ["", "x" * 500, "ü" * 500, "語" * 500, "\ud800", "\x00\x07", "a\tb\nc"])
def test_any_name_makes_a_header(name: str) -> None:
    header = header_of(name)

    assert len(header) <= LONGEST_USER
    assert header.isascii()
    assert clean(header) == header
    assert header.isprintable()


@pytest.mark.parametrize("key", ["", "a", "\ud800", "ü", KEY, f"{KEY}:stop"])
def test_any_key_has_an_id_of_its_own_that_never_changes(key: str) -> None:
    assert request_id_of(key) == request_id_of(key)
    assert request_id_of(key) != request_id_of(f"{key}.")


def test_the_id_of_a_key_is_what_it_was() -> None:
    assert str(request_id_of("a")) == "6cb81b0d-afe2-5c16-bbd6-8610a7cae6b6"


@pytest.mark.parametrize("action", [Action.PAUSE, Action.RESUME, Action.RETIRE])
def test_an_uncertain_change_is_looked_at_by_its_effect(asker: Asker, action: Action) -> None:
    asker.fails()
    if action is Action.RESUME:
        asker.ask(action=Action.PAUSE)
    asker.maestro.fails_to_answer("lose", "/(properties|deactivate)$")

    assert asker.ask(action=action).taken is Taken.UNCERTAIN
    assert asker.look(action=action) is Looked.STARTED


def test_what_was_learned_of_schedules_holds_for_a_while(maestro: Maestro) -> None:
    asker = Asker(maestro)
    job = asker.request(requested_by=BY_ITSELF).job
    asker.scheduler.learn({FLOW: MONDAY})

    schedule = asker.scheduler.schedule_of(job)

    assert schedule is not None
    assert schedule.next_run_at == MONDAY
    asker.maestro.clock.moves(timedelta(minutes=16))
    assert asker.scheduler.schedule_of(job) is None
