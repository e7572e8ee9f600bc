"""What reaches the Slack door unsigned, forged, stale or malformed: a clear 4xx, nothing changed, never a 500."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handlers.meters import Meters
from handlers.slack.app import CAP, PATH
from handlers.slack.verify import Verifier
from tests.handlers.doubles import NOON, Clock, Recorder, Workspace
from tests.handlers.server import Served
from tests.handlers.slack_side import FORM, OLD_SECRET, click, interact, send, signature, submit

NOW = str(int(NOON.timestamp()))
BODY = urlencode({"payload": json.dumps(click("ack"))}).encode()


@pytest.mark.parametrize("away", [timedelta(0), timedelta(seconds=300), timedelta(seconds=-300)])
def test_what_slack_signed_just_now_is_taken(slack: Served, intake: Recorder, away: timedelta) -> None:
    assert send(slack, BODY, at=NOON + away).status_code == 200
    assert len(intake.taken) == 1


def test_while_secrets_are_rotated_both_count(slack: Served) -> None:
    assert send(slack, BODY, secret=OLD_SECRET).status_code == 200


FORGED: list[tuple[str, dict[str, bytes]]] = [
    ("a signature of something else", {"X-Slack-Signature": signature(b"other", NOW).encode()}),
    ("another secret", {"X-Slack-Signature": signature(BODY, NOW, "guessed").encode()}),
    ("no signature", {"X-Slack-Signature": b""}),
    ("half a signature", {"X-Slack-Signature": signature(BODY, NOW)[:20].encode()}),
    ("another version", {"X-Slack-Signature": signature(BODY, NOW).replace("v0", "v1").encode()}),
    ("a signature in capitals", {"X-Slack-Signature": signature(BODY, NOW).upper().encode()}),
    ("a signature beyond ASCII", {"X-Slack-Signature": "v0=é".encode()}),
    ("a signature of broken bytes", {"X-Slack-Signature": b"v0=\xff\xfe"}),
    ("a timestamp in letters", {"X-Slack-Request-Timestamp": b"abc"}),
    ("no timestamp", {"X-Slack-Request-Timestamp": b""}),
    ("a negative timestamp", {"X-Slack-Request-Timestamp": b"-5"}),
    ("a timestamp with a fraction", {"X-Slack-Request-Timestamp": NOW.encode() + b".5"}),
    ("a timestamp in other digits", {"X-Slack-Request-Timestamp": "١٧٩٦٠٤٠٠٠٠".encode()}),
    ("a superscript timestamp", {"X-Slack-Request-Timestamp": b"\xb2"}),
    ("an endless timestamp", {"X-Slack-Request-Timestamp": b"9" * 5000}),
    ("a stale timestamp", {"X-Slack-Request-Timestamp": str(int(NOW) - 301).encode()}),
    ("a timestamp to come", {"X-Slack-Request-Timestamp": str(int(NOW) + 301).encode()}),
]


@pytest.mark.parametrize(("changed", "headers"), FORGED, ids=[name for name, _ in FORGED])
def test_anything_else_is_401(slack: Served, intake: Recorder, changed: str, headers: dict[str, bytes]) -> None:
    usual = {
        "Content-Type": FORM.encode(),
        "X-Slack-Request-Timestamp": NOW.encode(),
        "X-Slack-Signature": signature(BODY, NOW).encode(),
    }
    sent = [(name.encode(), value) for name, value in (usual | headers).items()]
    response = slack.client.post(PATH, content=BODY, headers=sent)

    assert response.status_code == 401, changed
    assert response.json()["error"]["field"].startswith("x-slack-")
    assert intake.taken == []


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_signature_is_good_for_five_minutes_only(slack: Served, seconds: int) -> None:
    assert send(slack, BODY, at=NOON + timedelta(seconds=seconds)).status_code == 401


def test_one_changed_byte_is_401(slack: Served) -> None:
    headers = {
        "Content-Type": FORM,
        "X-Slack-Request-Timestamp": NOW,
        "X-Slack-Signature": signature(BODY, NOW),
    }

    assert slack.client.post(PATH, content=BODY + b" ", headers=headers).status_code == 401


@pytest.mark.parametrize("secrets", [(), ("",), ("good", "")])
def test_an_empty_secret_is_no_secret(clock: Clock, secrets: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="signing secret"):
        Verifier(secrets=secrets, clock=clock)


def test_a_body_over_the_cap_is_refused_before_its_signature_is_read(slack: Served) -> None:
    assert slack.client.post(PATH, content=b"x" * (CAP + 1)).status_code == 413


def without(payload: dict[str, Any], *path: str | int) -> dict[str, Any]:
    place: Any = payload
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return payload


MALFORMED: list[tuple[str, bytes, str, int]] = [
    ("not UTF-8", b"payload=\xff\xfe", FORM, 400),
    ("not UTF-8 inside", b"payload=%ff%fe", FORM, 400),
    ("no JSON", b"payload=%7Bnot+json", FORM, 400),
    ("JSON cut short", BODY[:-30], FORM, 400),
    ("JSON of another kind", b"payload=5", FORM, 400),
    ("an empty payload", b"payload=", FORM, 400),
    ("two payloads", BODY + b"&" + BODY, FORM, 400),
    ("a thousand fields", b"&".join(b"f%d=1" % number for number in range(1000)), FORM, 400),
    ("no payload", b"hello=world", FORM, 400),
    ("an empty body", b"", FORM, 400),
    ("NUL", b"\x00", FORM, 400),
    ("nested without end", b"payload=" + b"[" * 100_000, FORM, 400),
    ("JSON nested without end", b'{"type": ' + b"[" * 100_000, "application/json", 400),
    ("an event that is no object", b"[]", "application/json", 400),
    ("an event with another event", b'{"type": "event_callback", "event": 5}', "application/json", 400),
    ("another content type", b"<xml/>", "application/xml", 415),
    ("no content type", BODY, "", 415),
]


@pytest.mark.parametrize(("what", "body", "content_type", "status"), MALFORMED, ids=[case[0] for case in MALFORMED])
def test_a_signed_body_that_makes_no_sense_is_4xx(
    slack: Served, intake: Recorder, what: str, body: bytes, content_type: str, status: int
) -> None:
    response = send(slack, body, content_type=content_type)

    assert response.status_code == status, what
    assert response.json()["error"]["field"]
    assert intake.taken == []


TAMPERED: list[tuple[str, Any, int]] = [
    ("an unknown action", click("launch_missiles"), 404),
    ("an empty action", click(""), 404),
    ("no value", click("ack", value=None), 400),
    ("an empty value", click("ack", value=""), 400),
    ("a foreign value", click("ack", value="'; drop table"), 400),
    ("a value in other digits", click("ack", value="٧.١"), 400),
    ("an endless value", click("ack", value="9" * 3000 + ".1"), 400),
    ("an occurrence that is not there", click("ack", value="8.1"), 404),
    ("an approval of nothing", click("approve"), 400),
    ("no user", without(click("ack"), "user"), 400),
    ("a user without id", without(click("ack"), "user", "id"), 400),
    ("a user that is a list", {**click("ack"), "user": []}, 400),
    ("a user that is a name", {**click("ack"), "user": "U0ANA"}, 400),
    ("no action", {**click("ack"), "actions": []}, 400),
    ("two actions", {**click("ack"), "actions": click("ack")["actions"] * 2}, 400),
    ("actions of another kind", {**click("ack"), "actions": {"0": "ack"}}, 400),
    ("no actions at all", without(click("ack"), "actions"), 404),
    ("a view of another kind", {**click("ack"), "view": "V1"}, 400),
    ("a channel of another kind", {**click("ack"), "channel": 5}, 400),
    ("an unknown type", {**click("ack"), "type": "interactive_message"}, 404),
    ("a type that is a number", {**click("ack"), "type": 5}, 400),
    ("no moment", {**without(click("ack"), "actions", 0, "action_ts"), "trigger_id": ""}, 400),
    ("an unknown modal", submit("modal_everything", {}), 404),
    ("the modal that submits nothing", submit("modal_more", {}), 404),
    ("a modal of nothing", submit("modal_pause", {}, metadata=""), 400),
    ("a modal of an occurrence that is not there", submit("modal_pause", {}, metadata="9.9"), 404),
    ("a modal without state", without(submit("modal_pause", {}), "view", "state"), 400),
    ("a modal with odd state", {**submit("modal_pause", {}), "view": {"id": "V1", "state": {"values": {"a": 1}}}}, 400),
]


@pytest.mark.parametrize(("what", "payload", "status"), TAMPERED, ids=[case[0] for case in TAMPERED])
def test_a_signed_payload_that_no_message_of_ours_sends_changes_nothing(
    slack: Served, intake: Recorder, what: str, payload: Any, status: int
) -> None:
    response = interact(slack, payload)

    assert response.status_code == status, what
    assert intake.taken == []


def test_such_payloads_are_counted(slack: Served, meters: Meters) -> None:
    interact(slack, click("launch_missiles"))
    interact(slack, click("ack", value="x"))
    send(slack, BODY, at=NOON - timedelta(hours=1))
    figures = slack.client.get("/metrics").text

    for reason in ("unknown_action", "malformed", "signature"):
        assert f'ontrack_refusals_total{{door="slack",reason="{reason}"}} 1.0' in figures


def test_odd_fields_that_nobody_reads_do_not_matter(slack: Served, intake: Recorder) -> None:
    odd = {"enterprise": 5, "authorizations": 7, "bot_id": [], "event": 3, "message": {"ts": "1.1", "blocks": 9}}

    assert interact(slack, {**click("ack"), **odd}).status_code == 200
    assert len(intake.taken) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(["type", "user", "team", "trigger_id", "channel", "message", "view", "actions", "container"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(field=fields, value=json_values)
def test_no_value_in_any_field_is_a_500(slack: Served, field: str, value: Any) -> None:
    assert interact(slack, {**click("ack"), field: value}).status_code < 500


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(payload=json_values)
def test_no_payload_is_a_500(slack: Served, workspace: Workspace, payload: Any) -> None:
    assert interact(slack, payload).status_code < 500
    assert workspace.said == []
