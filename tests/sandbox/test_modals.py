"""Modals: opened by a trigger, filled in by a person, answered by the app."""

from datetime import timedelta

import pytest
from slack_sdk.errors import SlackApiError
from starlette.responses import PlainTextResponse

from tests.sandbox.conftest import Sandbox
from tests.sandbox.steps import CHANNEL, DONE, Json, answers, button, field, modal, opened, payload_of, plain, root_with


def test_a_trigger_opens_one_view_within_three_seconds(sandbox: Sandbox) -> None:
    opened(sandbox, modal(DONE))
    used = payload_of(sandbox.app.received[-1])["trigger_id"]
    ts = root_with(sandbox, button("open"))
    sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="open")
    late = payload_of(sandbox.app.received[-1])["trigger_id"]
    sandbox.clock.forward(timedelta(seconds=3))

    for trigger, error in [(used, "exchanged_trigger_id"), (late, "expired_trigger_id"), ("x", "invalid_trigger_id")]:
        with pytest.raises(SlackApiError) as refused:
            sandbox.web.views_open(trigger_id=trigger, view=modal(DONE))

        assert refused.value.response["error"] == error


def test_what_the_client_would_refuse_is_told_under_the_field_and_never_sent(sandbox: Sandbox) -> None:
    link = field("link", {"type": "url_text_input"}, optional=True)
    count = field("count", {"type": "number_input", "is_decimal_allowed": False, "max_value": "5"})
    opened(sandbox, modal(DONE, link, count))
    sent = len(sandbox.app.received)
    answer = sandbox.people.submit(user="U0ANA", values={"link": "ftp://x", "count": "7"})

    assert set(answer["errors"]) == {"done", "link", "count"}
    assert len(sandbox.app.received) == sent
    assert sandbox.people.view_of("U0ANA") is not None


def test_a_submission_carries_every_value_in_slacks_shape(sandbox: Sandbox) -> None:
    options = [{"text": plain(each), "value": each} for each in ("rerun", "next")]
    opened(
        sandbox,
        modal(
            DONE,
            field("cause", {"type": "static_select", "options": options, "initial_option": options[0]}),
            field("owed", {"type": "radio_buttons", "options": options}),
            field("tell", {"type": "checkboxes", "options": options}, optional=True),
            field("day", {"type": "datepicker"}),
            field("until", {"type": "datetimepicker"}, optional=True),
            field("who", {"type": "users_select"}),
        ),
    )
    values = {"done": "put it back", "owed": "next", "tell": ["rerun"], "day": "2026-12-01", "who": "U0BEN"}
    answer = sandbox.people.submit(user="U0ANA", values=values)
    payload = payload_of(sandbox.app.received[-1])
    state = {block: entry["v"] for block, entry in payload["view"]["state"]["values"].items()}

    assert (answer["ok"], payload["type"], payload["view"]["callback_id"]) == (True, "view_submission", "fixed")
    assert state == {
        "done": {"type": "plain_text_input", "value": "put it back"},
        "cause": {"type": "static_select", "selected_option": options[0]},
        "owed": {"type": "radio_buttons", "selected_option": options[1]},
        "tell": {"type": "checkboxes", "selected_options": [options[0]]},
        "day": {"type": "datepicker", "selected_date": "2026-12-01"},
        "until": {"type": "datetimepicker", "selected_date_time": None},
        "who": {"type": "users_select", "selected_user": "U0BEN"},
    }
    assert sandbox.people.view_of("U0ANA") is None


def test_the_answer_to_a_submission_decides_what_becomes_of_the_modal(sandbox: Sandbox) -> None:
    def submitted(body: Json | None) -> tuple[bool, str | None]:
        answers(sandbox, body)
        answer = sandbox.people.submit(user="U0ANA", values={"done": "x"})
        view = sandbox.people.view_of("U0ANA")
        return answer["ok"], view["title"]["text"] if view else None

    first = opened(sandbox, modal(DONE))
    errors = submitted({"response_action": "errors", "errors": {"done": "Say more."}})
    stranger = submitted({"response_action": "errors", "errors": {"nothing": "?"}})
    updated = submitted({"response_action": "update", "view": modal(DONE, title=plain("Again"))})
    kept = sandbox.people.view_of("U0ANA")
    pushed = submitted({"response_action": "push", "view": modal(DONE, title=plain("Deeper"))})
    broken = submitted({"response_action": "update", "view": {"type": "modal"}})
    cleared = submitted({"response_action": "clear"})

    assert [errors, stranger, updated] == [(False, "Fixed"), (False, "Fixed"), (True, "Again")]
    assert kept is not None
    assert kept["id"] == first["id"]
    assert [pushed, broken, cleared] == [(True, "Deeper"), (False, "Deeper"), (True, None)]


def test_a_failing_app_leaves_the_modal_open(sandbox: Sandbox) -> None:
    opened(sandbox, modal(DONE))
    sandbox.app.answer = lambda received: PlainTextResponse("no", status_code=500)
    answer = sandbox.people.submit(user="U0ANA", values={"done": "x"})

    assert (answer["ok"], answer["status"]) == (False, 500)
    assert sandbox.people.view_of("U0ANA") is not None


def test_a_view_is_updated_by_its_hash_and_pushed_three_deep(sandbox: Sandbox) -> None:
    def trigger() -> str:
        ts = root_with(sandbox, button("open"))
        sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="open")
        return str(payload_of(sandbox.app.received[-1])["trigger_id"])

    view = opened(sandbox, modal(DONE))
    sandbox.web.views_update(view_id=view["id"], hash=view["hash"], view=modal(DONE, title=plain("New")))
    with pytest.raises(SlackApiError) as stale:
        sandbox.web.views_update(view_id=view["id"], hash=view["hash"], view=modal(DONE))
    _, deepest = [sandbox.web.views_push(trigger_id=trigger(), view=modal(DONE))["view"] for _ in range(2)]
    with pytest.raises(SlackApiError) as too_deep:
        sandbox.web.views_push(trigger_id=trigger(), view=modal(DONE))

    assert stale.value.response["error"] == "hash_conflict"
    assert too_deep.value.response["error"] == "push_limit_reached"
    assert deepest["root_view_id"] == view["id"]


def test_closing_tells_the_app_only_when_it_asked(sandbox: Sandbox) -> None:
    opened(sandbox, modal(DONE))
    quiet = sandbox.people.close_view(user="U0ANA")
    opened(sandbox, modal(DONE, notify_on_close=True))
    told = sandbox.people.close_view(user="U0ANA")

    assert (quiet["sent"], told["sent"]) == (False, True)
    assert payload_of(sandbox.app.received[-1])["type"] == "view_closed"
    assert sandbox.people.view_of("U0ANA") is None
