"""What a person does in the workspace: click, submit, close, a command, Home; it must not decide for the app."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from bot.sandbox.slack import inputs, payloads
from bot.sandbox.slack.callbacks import Answer, Callbacks, Tamper
from bot.sandbox.slack.methods import views
from bot.sandbox.slack.methods.channels import direct_with
from bot.sandbox.slack.responses import answer_command
from bot.sandbox.slack.state import Trigger
from bot.sandbox.slack.wire import TRIGGER_LIFE, Call, Json, Refusal
from bot.sandbox.slack.workspace import Workspace

RESPONSE_LIFE = timedelta(minutes=30)


@dataclass(slots=True, kw_only=True)
class People:
    """The persons' side of one workspace."""

    workspace: Workspace
    callbacks: Callbacks

    def click(self, wish: Json) -> Json:
        """Use an element of a message (`channel`, `ts`) or of a view (`view_id`)."""
        with self.workspace.lock:
            user = self._person(wish)
            place = payloads.place_of(self.workspace.state, user=user["id"], wish=wish)
            block, element = payloads.element_of(place.blocks, user=user["id"], wish=wish)
            action = payloads.action_of(block, element, wish.get("value"), now=self.workspace.clock())
            values = {**inputs.initial_values(place.blocks), **place.values}
            if element["type"] not in inputs.STATELESS:
                entry = inputs.entered(element, wish.get("value"))
                mine = {**values.get(block["block_id"], {}), element["action_id"]: entry}
                values = {**values, block["block_id"]: mine}
                if place.view:
                    self.workspace.record("person.typed", {"view_id": place.view["id"], "values": values}, {"ok": True})
            asked = self._asked("block_actions", user["id"], place=place, about=element["action_id"])
            payload = payloads.block_actions(self.workspace.state, user, place, action, values=values, asked=asked)
        return self._told(self.callbacks.payload(payload, tamper=_tamper(wish)))

    def submit(self, wish: Json) -> Json:
        """Send a modal's values; what Slack's client would refuse is told and not sent."""
        with self.workspace.lock:
            user = self._person(wish)
            view = self._top_view(user["id"], wish.get("view_id"))
            values, errors = entered_values(view, wish.get("values") or {})
            if errors:
                return {"ok": False, "sent": False, "errors": errors}
            self.workspace.record("person.typed", {"view_id": view["id"], "values": values}, {"ok": True})
            asked = self._asked("view_submission", user["id"], about=view["callback_id"])
            view = {**view, "state": {"values": values}}
            payload = payloads.view_submission(self.workspace.state, user, view, asked=asked)
        answer = self.callbacks.payload(payload, tamper=_tamper(wish))
        return {**self._told(answer), "sent": True, **self._after_submission(user["id"], view, answer)}

    def _after_submission(self, user: str, view: Json, answer: Answer) -> Json:
        """Do to the modal what the app answered."""
        if answer.status != 200:
            return {"ok": False}
        body = answer.json() or {}
        action = body.get("response_action")
        if action is None or action == "clear":
            how = {"all": True} if action == "clear" else {"view_id": view["id"]}
            self.workspace.record("person.closed", {"user": user, **how}, {"ok": True})
            return {}
        if action == "errors":
            known = {each["block_id"] for each in view["blocks"] if each["type"] == "input"}
            strangers = sorted(set(body.get("errors", {})) - known)
            if strangers or not body.get("errors"):
                return {"ok": False, "error": f"errors name no input block: {', '.join(strangers)}"}
            return {"ok": False, "errors": body["errors"]}
        if action not in ("update", "push"):
            return {"ok": False, "error": f"unknown response_action {action}"}
        run = partial(answered_view, body=body.get("view"), old=view, push=action == "push")
        try:
            self.workspace.perform("person.answered", {"user": user}, run=run)
        except Refusal as refusal:
            return {"ok": False, "error": refusal.error, "messages": list(refusal.messages)}
        return {}

    def close(self, wish: Json) -> Json:
        """Close the topmost modal by its x; the app hears of it when it asked to."""
        with self.workspace.lock:
            user = self._person(wish)
            view = self._top_view(user["id"], wish.get("view_id"))
            clears = bool(view["clear_on_close"])
            where = {"all": True} if clears else {"view_id": view["id"]}
            self.workspace.record("person.closed", {"user": user["id"], **where}, {"ok": True})
            if not view["notify_on_close"]:
                return {"ok": True, "sent": False}
            asked = self._asked("view_closed", user["id"], about=view["callback_id"])
            payload = payloads.view_closed(self.workspace.state, user, view, asked=asked, cleared=clears)
        return {**self._told(self.callbacks.payload(payload, tamper=_tamper(wish))), "sent": True}

    def command(self, wish: Json) -> Json:
        """Type a slash command; what the app answers becomes a message."""
        with self.workspace.lock:
            user = self._person(wish)
            channel = self.workspace.state.channels.get(wish.get("channel", ""))
            if channel is None:
                raise Refusal("channel_not_found")
            known = {each["command"] for each in self.workspace.state.commands}
            if not wish.get("command") or (known and wish["command"] not in known):
                raise Refusal("invalid_command", known=sorted(known))
            asked = self._asked("command", user["id"], place=payloads.Place(channel=channel), about=wish["command"])
            fields = payloads.slash_command(self.workspace.state, user, channel, wish, asked=asked)
        answer = self.callbacks.form(fields, tamper=_tamper(wish))
        if answer.status != 200 or not answer.body.strip():
            return self._told(answer)
        args = {"user": user["id"], "channel": channel.id, "body": answer.json() or {"text": answer.body}}
        try:
            self.workspace.perform("response_url", args, run=answer_command)
        except Refusal as refusal:
            return {**self._told(answer), "ok": False, "error": refusal.error, "messages": list(refusal.messages)}
        return self._told(answer)

    def home(self, wish: Json) -> Json:
        """Open the app's Home tab."""
        with self.workspace.lock:
            user = self._person(wish)
            self.workspace.perform("person.home", {"user": user["id"]}, run=home_opened)
            channel = self.workspace.state.direct(user["id"])
            event = payloads.app_home_opened(
                self.workspace.state, user, channel.id if channel else "", now=self.workspace.clock()
            )
        return self._told(self.callbacks.event(event, tamper=_tamper(wish)))

    def say(self, wish: Json) -> Json:
        """Write a plain message as this person."""
        user = self._person(wish)

        def said(call: Call) -> Json:
            if wish.get("channel") not in call.state.channels:
                raise Refusal("channel_not_found")
            message = {"type": "message", "user": user["id"], "text": wish.get("text", ""), "ts": call.fresh_ts()}
            if wish.get("thread_ts"):
                message["thread_ts"] = wish["thread_ts"]
            return {"ok": True, "ts": message["ts"], "message": message}

        return self.workspace.perform("person.said", wish, run=said)

    def _person(self, wish: Json) -> Json:
        user = self.workspace.state.users.get(wish.get("user", ""))
        if user is None or user["deleted"]:
            raise Refusal("user_not_found")
        return user

    def _top_view(self, user: str, view_id: str | None) -> Json:
        stack = self.workspace.state.modals.get(user, [])
        if not stack or (view_id is not None and stack[-1]["id"] != view_id):
            raise Refusal("view_not_found")
        return stack[-1]

    def _asked(self, kind: str, user: str, *, about: str, place: payloads.Place | None = None) -> payloads.Asked:
        """A fresh trigger, and a response URL where the act has a place in a channel; journalled."""
        workspace, now = self.workspace, self.workspace.clock()
        trigger = f"{int(now.timestamp() * 1000)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        workspace.state.triggers[trigger] = Trigger(user=user, expires_at=now + TRIGGER_LIFE)
        known: Json = {"trigger": trigger}
        if place and place.channel:
            known |= {
                "response": secrets.token_urlsafe(18),
                "channel": place.channel.id,
                "ts": place.message["ts"] if place.message else None,
                "thread_ts": place.message.get("thread_ts") if place.message else None,
                "expires_at": (now + RESPONSE_LIFE).isoformat(),
            }
        args = {"user": user, "kind": kind, "about": about}
        workspace.record("person.asked", args, {"ok": True}, known=known)
        url = f"{workspace.url}/response/{known['response']}" if "response" in known else None
        return payloads.Asked(trigger=trigger, response_url=url)

    def _told(self, answer: Answer) -> Json:
        ok = answer.status is not None and answer.status < 300
        return {
            "ok": ok,
            "status": answer.status,
            "body": answer.body,
            "elapsed_ms": answer.elapsed_ms,
            **({"error": answer.error} if answer.error else {}),
        }


def home_opened(call: Call) -> Json:
    call.known["channel"] = direct_with(call, call.args.required("user")).id
    return {"ok": True}


def answered_view(call: Call, *, body: Any, old: Json, push: bool) -> Json:
    """The view with which the app answered a submission."""
    view = views.checked(body, "modal")
    if push:
        return {"ok": True, "view": views.shown(call, view, view_id=call.name("V"), previous=old)}
    return {"ok": True, "view": views.replaced(call, view, old)}


def entered_values(view: Json, given: Json) -> tuple[Json, dict[str, str]]:
    """The view's state with what the person entered (by block_id, or by action_id), and what is wrong with it."""
    values = {**inputs.initial_values(view["blocks"]), **view["state"]["values"]}
    errors: dict[str, str] = {}
    for block, element in inputs.stateful(view["blocks"]):
        block_id, action_id = block["block_id"], element["action_id"]
        names = [name for name in (block_id, action_id) if name in given]
        if names:
            entry = inputs.entered(element, given[names[0]])
            values = {**values, block_id: {**values.get(block_id, {}), action_id: entry}}
        fault = inputs.fault_of(block, element, values[block_id][action_id])
        if fault:
            errors[block_id] = fault
    known = set(values) | {action_id for block in values.values() for action_id in block}
    if strangers := sorted(set(given) - known):
        raise Refusal("no_such_input", inputs=strangers)
    return values, errors


def _tamper(wish: Json) -> Tamper:
    return Tamper(wish.get("tamper", "none"))
