"""What the webhook connector sends, and what each answer means; the other side is a server on loopback that is told what to do."""

import gc
import logging
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.compose.schedulers import connected
from bot.incidents.keys import Action, Capability, JobKey, RunRef
from bot.policies.specs import WebhookSpec
from bot.ports import Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.webhook import LONGEST_MESSAGE, WebhookScheduler
from bot.schedulers.webhook_wire import LONGEST_ANSWER, WebhookWire
from tests.adapters.peer import Peer, Reaction, Trickle, cut_off, hung_up, left_after, never_answered, said
from tests.standins.scheduler_checks import checked

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVERYTHING = frozenset(Capability) - {Capability.FRESH_START, Capability.UNBLOCK, Capability.COST}
JOB = JobKey(scheduler="shop", name="finance.orders")
RUN = RunRef(run_id="scheduled__2026-11-30", nominal_time=NOW, generation=1)
RERUN = SchedulerRequest(
    action=Action.RERUN,
    key="shop/finance.orders@20261130T031200Z:rerun:2",
    job=JOB,
    run=RUN,
    nominal_times=(datetime(2026, 11, 30, 3, 0, tzinfo=UTC),),
    requested_by="Ana",
    reason="the connection was reset",
)


@pytest.fixture
def peer() -> Iterator[Peer]:
    server = Peer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def spec_of(url: str, **other: Any) -> WebhookSpec:
    return WebhookSpec(**{"name": "shop", "url": url, "secret": SECRET, "can": EVERYTHING, **other})


@pytest.fixture
def scheduler(peer: Peer) -> Iterator[WebhookScheduler]:
    made = WebhookScheduler(spec_of(f"{peer.url}ontrack?of=shop"), clock=lambda: NOW)
    yield made
    made.close()


@pytest.fixture
def hasty(peer: Peer) -> Iterator[WebhookScheduler]:
    """Has a fifth of a second for a whole request."""
    wire = WebhookWire(f"{peer.url}ontrack", within=timedelta(seconds=0.2))
    yield WebhookScheduler(spec_of(""), clock=lambda: NOW, client=wire)
    wire.close()


def answer_to(peer: Peer, scheduler: WebhookScheduler, reaction: Reaction) -> SchedulerAnswer:
    peer.scripts["/api/ontrack?of=shop"].append(reaction)
    peer.scripts["/api/ontrack"].append(reaction)
    return scheduler.ask(RERUN)


def test_a_rerun_is_sent_as_agreed_and_signed(peer: Peer, scheduler: WebhookScheduler) -> None:
    assert scheduler.ask(RERUN) == SchedulerAnswer(taken=Taken.TAKEN)

    (received,) = peer.received
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert received.path == "/api/ontrack?of=shop"
    assert headers["host"] == f"127.0.0.1:{peer.server_port}"
    assert headers["webhook-id"] == RERUN.key
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert checked(headers, received.content, secret=SECRET, now=NOW) == {
        "action": "rerun",
        "scheduler": "shop",
        "job": "finance.orders",
        "run": {"id": "scheduled__2026-11-30", "generation": 1},
        "nominal_times": ["2026-11-30T03:00:00Z"],
        "key": RERUN.key,
        "requested_by": "Ana",
        "reason": "the connection was reset",
    }


@pytest.mark.parametrize("fresh", [False, True])
def test_a_rerun_from_the_beginning_says_so(peer: Peer, scheduler: WebhookScheduler, fresh: bool) -> None:
    assert scheduler.ask(replace(RERUN, fresh=fresh)).taken is Taken.TAKEN

    (received,) = peer.received
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert checked(headers, received.content, secret=SECRET, now=NOW).get("fresh") == (True if fresh else None)


@pytest.mark.parametrize("action", [action for action in Action if action is not Action.UNBLOCK])
def test_each_action_carries_what_it_should(peer: Peer, scheduler: WebhookScheduler, action: Action) -> None:
    assert scheduler.ask(replace(RERUN, action=action)).taken is Taken.TAKEN

    (received,) = peer.received
    headers = {name.lower(): value for name, value in received.headers.items()}
    request = checked(headers, received.content, secret=SECRET, now=NOW)
    assert ("run" in request) == (action in (Action.RERUN, Action.STOP))
    assert ("nominal_times" in request) == (action in (Action.RERUN, Action.START, Action.STOP))


@pytest.mark.parametrize("name", ["größe", "two words", "50%", "\ud800", "tab\there"])
def test_any_job_name_can_be_asked_for(peer: Peer, scheduler: WebhookScheduler, name: str) -> None:
    request = replace(RERUN, key=f"shop/{name}:1", job=JobKey(scheduler="shop", name=name), reason=name)

    assert scheduler.ask(request).taken is Taken.TAKEN
    assert peer.received[0].json["job"] == name.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_any_2xx_is_taken(peer: Peer, scheduler: WebhookScheduler, status: int) -> None:
    assert answer_to(peer, scheduler, said(b"", status=status)).taken is Taken.TAKEN


def test_a_2xx_whose_body_breaks_is_taken(peer: Peer, scheduler: WebhookScheduler) -> None:
    assert answer_to(peer, scheduler, cut_off).taken is Taken.TAKEN


def test_a_409_was_taken_already(peer: Peer, scheduler: WebhookScheduler) -> None:
    answer = answer_to(peer, scheduler, said({"message": "taken before"}, status=409))

    assert answer == SchedulerAnswer(taken=Taken.ALREADY, message="taken before")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 422])
def test_another_4xx_is_refused_in_its_words(peer: Peer, scheduler: WebhookScheduler, status: int) -> None:
    answer = answer_to(peer, scheduler, said({"message": "the job is locked"}, status=status, headers=JSON))

    assert answer == SchedulerAnswer(taken=Taken.REFUSED, message="the job is locked")


JSON = {"Content-Type": "application/json; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}
PAGE = {"Content-Type": "text/html"}


@pytest.mark.parametrize(
    ("body", "headers", "message"),
    [
        pytest.param(b"no such\n\n  job\x1b[31m!\x00", TEXT, "no such job!", id="plain text is cleaned"),
        pytest.param(b"locked", {}, "locked", id="no content type"),
        pytest.param(b'{"message": "locked"}', {}, "locked", id="JSON that is not called so"),
        pytest.param(b'{"message": ["x"]}', JSON, "it answered 403 Forbidden", id="a message that is no text"),
        pytest.param(b'{"error": "x"}', JSON, "it answered 403 Forbidden", id="no message"),
        pytest.param(b'"locked"', JSON, "locked", id="a text as JSON"),
        pytest.param(b"{", JSON, "it answered 403 Forbidden", id="broken JSON"),
        pytest.param(b"[" * 60_000, JSON, "it answered 403 Forbidden", id="JSON that is too deep"),
        pytest.param(b"\xff\xfe", JSON, "it answered 403 Forbidden", id="no UTF-8"),
        pytest.param(b"<h1>403</h1>", PAGE, "it answered 403 Forbidden", id="a page"),
        pytest.param(b"", TEXT, "it answered 403 Forbidden", id="nothing"),
    ],
)
def test_what_a_refusal_says(
    peer: Peer, scheduler: WebhookScheduler, body: bytes, headers: dict[str, str], message: str
) -> None:
    answer = answer_to(peer, scheduler, said(body, status=403, headers=headers))

    assert answer == SchedulerAnswer(taken=Taken.REFUSED, message=message)


def test_a_refusal_is_told_without_its_secrets_and_short(peer: Peer, scheduler: WebhookScheduler) -> None:
    body = f"password=hunter2hunter2 {'word ' * 1000}".encode()
    answer = answer_to(peer, scheduler, said(body, status=403, headers=TEXT))

    assert "hunter2" not in answer.message
    assert len(answer.message) == LONGEST_MESSAGE


def test_an_endless_refusal_is_read_no_further_than_it_is_wanted(peer: Peer, scheduler: WebhookScheduler) -> None:
    body = b"x" * (LONGEST_ANSWER * 40)
    answer = answer_to(peer, scheduler, left_after(said(body, status=403, headers=TEXT)))

    assert answer.taken is Taken.REFUSED
    assert len(answer.message) == LONGEST_MESSAGE


@pytest.mark.parametrize("status", [301, 302, 307, 308, 408, 500, 502, 503, 504])
def test_everything_else_is_uncertain_and_no_redirect_is_followed(
    peer: Peer, scheduler: WebhookScheduler, status: int
) -> None:
    headers = {"Location": f"{peer.url}elsewhere"}
    answer = answer_to(peer, scheduler, said(b"", status=status, headers=headers))

    assert answer.taken is Taken.UNCERTAIN
    assert str(status) in answer.message
    assert len(peer.received) == 1


def test_a_connection_that_breaks_is_uncertain_and_asked_once(peer: Peer, scheduler: WebhookScheduler) -> None:
    answer = answer_to(peer, scheduler, hung_up)

    assert answer == SchedulerAnswer(taken=Taken.UNCERTAIN, message="the connection broke before an answer came")
    assert len(peer.received) == 1


def test_a_connection_that_broke_while_it_was_kept_costs_no_request(peer: Peer, scheduler: WebhookScheduler) -> None:
    answer_to(peer, scheduler, left_after(said(b"")))
    peer.wait_for_a_closed_connection()

    assert scheduler.ask(RERUN).taken is Taken.TAKEN
    assert len(peer.received) == 2


@pytest.mark.parametrize("silence", [never_answered, Trickle()], ids=["silence", "a byte at a time"])
def test_no_answer_within_the_deadline_is_uncertain(peer: Peer, hasty: WebhookScheduler, silence: Reaction) -> None:
    answer = answer_to(peer, hasty, trickling(silence) if isinstance(silence, Trickle) else silence)

    assert answer == SchedulerAnswer(taken=Taken.UNCERTAIN, message="no answer within 0.2 s")


def test_a_2xx_whose_body_never_ends_is_taken_within_the_deadline(peer: Peer, hasty: WebhookScheduler) -> None:
    assert answer_to(peer, hasty, Trickle()).taken is Taken.TAKEN


def trickling(trickle: Trickle) -> Reaction:
    """Sends the head of its answer a byte at a time, without end."""

    def react(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        handler.close_connection = True
        while not handler.server.over.wait(trickle.pause):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    return react


def test_no_connection_took_nothing_and_may_be_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    alone = WebhookScheduler(spec_of(f"http://127.0.0.1:{port}/"), clock=lambda: NOW)
    answer = alone.ask(RERUN)

    assert answer.taken is Taken.REFUSED
    assert answer.retry_after == timedelta(seconds=10)
    assert answer.message == "no connection to it came about"


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ({}, 10),
        ({"Retry-After": "60"}, 60),
        ({"Retry-After": "0"}, 1),
        ({"Retry-After": "1e9"}, 3600),
        ({"Retry-After": "nan"}, 10),
        ({"Retry-After": "soon"}, 10),
        ({"Retry-After": "Mon, 30 Nov 2026 03:13:00 GMT"}, 60),
    ],
)
def test_a_429_took_nothing_and_says_when_to_ask_again(
    peer: Peer, scheduler: WebhookScheduler, header: dict[str, str], wait: int
) -> None:
    answer = answer_to(peer, scheduler, said({"message": "busy"}, status=429, headers={**JSON, **header}))

    assert answer == SchedulerAnswer(taken=Taken.REFUSED, message="busy", retry_after=timedelta(seconds=wait))


def test_connections_are_kept(peer: Peer, scheduler: WebhookScheduler) -> None:
    for _ in range(5):
        scheduler.ask(RERUN)

    assert {received.connection for received in peer.received} == {1}


def test_a_scheduler_that_nobody_holds_leaves_no_connection(peer: Peer) -> None:
    scheduler = connected(spec_of(f"{peer.url}ontrack"))
    assert scheduler.ask(RERUN).taken is Taken.TAKEN
    del scheduler
    gc.collect()

    peer.wait_for_a_closed_connection()


def test_what_it_cannot_is_refused_unasked(peer: Peer) -> None:
    scheduler = WebhookScheduler(spec_of(f"{peer.url}ontrack", can=frozenset({Capability.PAUSE})), clock=lambda: NOW)

    assert scheduler.ask(RERUN) == SchedulerAnswer(taken=Taken.REFUSED, message="shop cannot be asked to rerun")
    assert peer.received == []


@pytest.mark.parametrize(
    ("url", "secret", "said"),
    [
        ("http://127.0.0.1:1/", "whsec_?", "the secret begins with whsec_, but what follows is not base64"),
        ("http://[::1", SECRET, "its url is not an address that can be asked"),
        ("http://", SECRET, "its url is not an address that can be asked"),
    ],
)
def test_what_is_declared_wrongly_is_told_to_whoever_needs_it(url: str, secret: str, said: str) -> None:
    scheduler = WebhookScheduler(spec_of(url, secret=secret), clock=lambda: NOW)

    assert scheduler.ask(RERUN) == SchedulerAnswer(taken=Taken.REFUSED, message=said)


def test_it_deduplicates_and_so_it_need_not_look(scheduler: WebhookScheduler) -> None:
    assert scheduler.deduplicates
    assert scheduler.look(RERUN) is Looked.CANNOT_TELL
    assert scheduler.schedule_of(JOB) is None


def test_the_log_has_no_private_data(peer: Peer, scheduler: WebhookScheduler, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="bot"):
        answer_to(peer, scheduler, said({"message": "locked by Maria"}, status=403, headers=JSON))

    (record,) = caplog.records
    logged = str(record.__dict__)
    assert RERUN.key in logged
    for private in ("Ana", "connection was reset", "Maria", SECRET, peer.url, "v1,"):
        assert private not in logged
