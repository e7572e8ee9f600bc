"""Slack's side of the door: payloads as Slack sends them, signed as Slack signs."""

import hmac
import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import httpx

from bot.incidents.keys import Capability, JobKey, RunRef
from bot.incidents.model import DecisionKind, Failure, Incident, Owed, OwedPlan, OwnerDecision, Status
from bot.incidents.people import By, Person
from bot.incidents.policy import Hours, JobPolicy, Team
from bot.render.snapshot import Snapshot
from handlers.slack.app import PATH
from tests.handlers.doubles import NOON
from tests.handlers.server import Served

SECRET = "signing-secret-now"
OLD_SECRET = "signing-secret-before"
FORM = "application/x-www-form-urlencoded"
ANA = {"id": "U0ANA", "name": "ana", "username": "ana", "team_id": "T1"}
NIGHT = datetime.fromisoformat("2026-11-30T02:00:00+00:00")
BY_ANA = By(person=Person(id="U0ANA", name="ana"), at=NOON, door="slack")


def signature(body: bytes, timestamp: str, secret: str = SECRET) -> str:
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, sha256).hexdigest()


def send(
    slack: Served, body: bytes, *, content_type: str = FORM, at: datetime = NOON, secret: str = SECRET
) -> httpx.Response:
    timestamp = str(int(at.timestamp()))
    headers = {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(body, timestamp, secret),
    }
    return slack.client.post(PATH, content=body, headers=headers)


def interact(slack: Served, payload: Any, *, at: datetime = NOON) -> httpx.Response:
    return send(slack, urlencode({"payload": json.dumps(payload)}).encode(), at=at)


def happen(slack: Served, event: Any) -> httpx.Response:
    return send(slack, json.dumps(event).encode(), content_type="application/json")


def click(action_id: str, *, value: str | None = "7.1", user: dict[str, Any] = ANA, **action: Any) -> dict[str, Any]:
    """A click on the root message."""
    element = {"type": "button", "action_id": action_id, "block_id": "actions", "action_ts": "1796040000.1", **action}
    return {
        "type": "block_actions",
        "user": dict(user),
        "team": {"id": "T1", "domain": "team"},
        "api_app_id": "A1",
        "token": "deprecated",
        "trigger_id": "123.456.abc",
        "container": {"type": "message", "message_ts": "1796030000.5", "channel_id": "C1", "is_ephemeral": False},
        "channel": {"id": "C1", "name": "finance"},
        "message": {"type": "message", "ts": "1796030000.5", "text": "root", "bot_id": "B1"},
        "state": {"values": {}},
        "response_url": "https://hooks.slack.com/actions/T1/1/x",
        "actions": [element if value is None else {**element, "value": value}],
    }


def click_in_modal(action_id: str, *, value: str = "7.1") -> dict[str, Any]:
    """A click on a button of the modal behind More."""
    made = click(action_id, value=value)
    del made["channel"], made["message"]
    view = {"id": "V1", "type": "modal", "callback_id": "modal_more", "private_metadata": "7.1", "hash": "h1"}
    return {**made, "container": {"type": "view", "view_id": "V1"}, "view": view}


def submit(
    callback_id: str, values: dict[str, Any], *, metadata: str = "7.1", view_id: str = "V1", hash: str = "h1"
) -> dict[str, Any]:
    """A modal that was submitted; `values` by block."""
    view = {
        "id": view_id,
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "hash": hash,
        "blocks": [],
        "state": {"values": {block: {"value": entered} for block, entered in values.items()}},
    }
    return {"type": "view_submission", "user": dict(ANA), "team": {"id": "T1"}, "trigger_id": "1.2.c", "view": view}


def words(value: str | None) -> dict[str, Any]:
    return {"type": "plain_text_input", "value": value}


def chosen(value: str) -> dict[str, Any]:
    return {"type": "static_select", "selected_option": {"value": value, "text": {"type": "plain_text", "text": value}}}


def several(*values: str) -> dict[str, Any]:
    options = [{"value": value, "text": {"type": "plain_text", "text": value}} for value in values]
    return {"type": "multi_static_select", "selected_options": options}


def moment(at: datetime) -> dict[str, Any]:
    return {"type": "datetimepicker", "selected_date_time": int(at.timestamp())}


def occurrence(
    *, number: int = 1, status: Status = Status.OPEN, cause: str = "unknown", occurrences: int = 1
) -> Snapshot:
    """An occurrence of record 7 with two owed times."""
    runs = [RunRef(run_id=f"r{hour}", nominal_time=NIGHT + timedelta(hours=hour)) for hour in range(2)]
    failures = [Failure(run=run, at=NIGHT, fingerprint="f1", cause=cause, title="A failure") for run in runs]
    owed = [
        Owed(nominal_time=failure.run.nominal_time, since=NIGHT, failure=failure, plan=OwedPlan.SAME_RUN)
        for failure in failures
    ]
    kinds = {Status.PAUSED: DecisionKind.PAUSED, Status.LEFT: DecisionKind.LEFT, Status.RETIRED: DecisionKind.RETIRED}
    kind = kinds.get(status)
    decision = OwnerDecision(kind=kind, by=BY_ANA, until=NOON + timedelta(days=1)) if kind else None
    incident = Incident(
        record=7,
        number=number,
        job=JobKey(scheduler="cron", name="nightly"),
        status=status,
        version=3,
        opened_at=NIGHT,
        fingerprint="f1",
        failure=failures[0],
        owed=tuple(owed) if status.unresolved else (),
        decision=decision,
        closed_by_run="r0" if status is Status.RESOLVED else None,
    )
    hours = Hours(
        days=(0, 1, 2, 3, 4),
        starts=datetime.min.time().replace(hour=8),
        ends=datetime.min.time().replace(hour=18),
        zone="UTC",
    )
    return Snapshot(
        incident=incident,
        team="finance-data",
        teams=("finance-data", "growth"),
        owners=("Ana", "Ben"),
        can=frozenset(Capability),
        policy=JobPolicy(team=Team(name="finance-data", hours=hours)),
        occurrences=occurrences,
    )
