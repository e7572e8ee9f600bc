"""The product in a small company, played in words that read like the pager; the clock moves only when it is told to.

Nothing of the product is replaced but the schedulers' other side.
"""

from dataclasses import dataclass
from typing import Any

from tests.world.clock import next_at
from tests.world.people import CHANNELS, PEOPLE
from tests.world.seeing import Seeing
from tests.world.seen import Told, buttons

Json = dict[str, Any]


@dataclass(slots=True)
class World(Seeing):
    """One test's company: what its people do. Jobs, channels and people go by their short names."""

    def clicks(self, person: str, label: str, job: str, *, number: int | None = None, **more: Any) -> Told:
        """Click the newest button with this label in the job's thread (of its occurrence `number`)."""
        message = self.message_with(label, job, number)
        return self.clicks_on(person, label, message, **more)

    def clicks_on(self, person: str, label: str, message: Json, **more: Any) -> Told:
        """Click a button of a message, as it stood when it was looked at."""
        self.clock.tick()
        button = buttons(message)[label]
        place = {"channel": message["channel"], "ts": message["ts"]}
        before = len(self.stage.slack.ephemerals(PEOPLE[person]))
        answer = self.stage.slack.click(
            user=PEOPLE[person], action_id=button["action_id"], block_id=button["block_id"], **place, **more
        )
        self.settles()
        whispers = self.stage.slack.ephemerals(PEOPLE[person])[before:]
        return Told(text="\n".join(self.text_of(each) for each in whispers), status=answer["status"])

    def submits(self, person: str, **values: Any) -> Told:
        """Fill in the modal on the person's screen and send it; instants may be written as words."""
        self.clock.tick()
        until = values.get("until")
        if isinstance(until, str):
            values["until"] = int(next_at(until, self.now).timestamp())
        answer = self.stage.slack.submit(user=PEOPLE[person], values=values)
        self.settles()
        view = self.screen(person)
        errors = "\n".join(f"{name}: {said}" for name, said in (answer.get("errors") or {}).items())
        return Told(text=view, errors=errors, status=answer.get("status"))

    def presses(self, person: str, label: str) -> Told:
        """Press a button of the modal on the person's screen."""
        self.clock.tick()
        view = self.stage.slack.view_of(PEOPLE[person])
        assert view is not None, f"{person} has no modal open"
        button = buttons(view)[label]
        answer = self.stage.slack.click(
            user=PEOPLE[person], action_id=button["action_id"], block_id=button["block_id"], view_id=view["id"]
        )
        self.settles()
        return Told(text=self.screen(person), status=answer["status"])

    def screen(self, person: str) -> str:
        """The modal that is open before the person, as text."""
        view = self.stage.slack.view_of(PEOPLE[person])
        return f"{view['title']['text']}\n{self.text_of(view)}" if view else ""

    def types(self, person: str, command: str, channel: str = "finance") -> str:
        """A slash command, and what only this person reads of its answer."""
        name, _, text = command.partition(" ")
        user = PEOPLE[person]
        before = len(self.stage.slack.ephemerals(user))
        self.stage.slack.command(user=user, channel=CHANNELS[channel], command=name, text=text)
        return "\n".join(self.text_of(each) for each in self.stage.slack.ephemerals(user)[before:])
