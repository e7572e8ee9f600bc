"""What the listeners of job health have at hand, and how an answer is shown in the richest form that the workspace takes.

It must not choose what an answer says.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import msgspec

from bot.delivery.forms import Form, Forms
from bot.health.answering import Answered, Told
from bot.health.links import Words, words_in
from bot.incidents.health import HealthReport
from bot.incidents.people import Person
from bot.render.health import HealthAnswer
from bot.render.rendered import Rendered
from bot.render.text import one_line

AT_ONCE = timedelta(seconds=1.5)
MOST_ALT = 300
_VALUE = msgspec.json.Decoder(type=dict[str, str])


class Telling(Protocol):
    """The use case; `bot.health.answering` implements it."""

    def tell(self, text: str, *, by: Person | None, now: datetime) -> Told:
        """What `text` is answered with. Raises `StorageDown`."""

    def name_of(self, person: Person) -> str:
        """How the person is called."""


class Responses(Protocol):
    """The address that came with a command or a click; raises `SendFailed` and nothing else."""

    def answer(
        self,
        *,
        url: str,
        text: str,
        blocks: Sequence[Mapping[str, Any]],
        in_channel: bool = False,
        replace: bool = False,
        within: timedelta | None = None,
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthDesk:
    """`draw` has a picture drawn beforehand and says whether it could be; `claim` says whether a share is the first."""

    answers: Telling
    responses: Responses
    forms: Forms
    draw: Callable[[HealthReport], bool]
    claim: Callable[[str, datetime], bool]

    def richer(self, url: str, message: Rendered, *, in_channel: bool = False) -> bool:
        """Whether the richer form stands there now. Raises `SendFailed` where that is not known, or nothing can."""

        def send() -> None:
            self.responses.answer(
                url=url, text=message.text, blocks=message.richer, in_channel=in_channel, within=AT_ONCE
            )

        return bool(url and message.richer) and self.forms.tried(Form.RICHER, send)

    def picture(self, url: str, answer: HealthAnswer, *, in_channel: bool = False) -> None:
        """The chart as a picture, after the classic form; left out where the workspace cannot fetch it from us."""
        address = answer.picture_url
        if not url or address is None or not self.forms.takes(Form.PICTURE) or not self.draw(answer.report):
            return
        alt = one_line(f"Chart: failures that opened and settled. /job-health {answer.ask}", MOST_ALT)
        block = {"type": "image", "image_url": address, "alt_text": alt}
        self.forms.tried(
            Form.PICTURE,
            lambda: self.responses.answer(url=url, text=alt, blocks=[block], in_channel=in_channel),
        )


def with_share(answered: Answered) -> HealthAnswer:
    """The answer with the button that shares it: the question, the instant and a name by which it is shared once."""
    words, at = words_in(answered.query), answered.answer.at
    value = {
        "of": words.of,
        "period": words.period,
        "vs": words.versus,
        "at": at.isoformat(),
        "n": secrets.token_hex(8),
    }
    return replace(answered.answer, share=msgspec.json.encode(value).decode())


def shared_of(value: str) -> tuple[Words, datetime, str]:
    """Question, instant and name of such a button; raises ValueError for anything else."""
    try:
        found = _VALUE.decode(value)
        at = datetime.fromisoformat(found["at"])
        words = Words(of=found["of"], period=found["period"], versus=found["vs"])
        name = found["n"]
    except (msgspec.DecodeError, KeyError) as error:
        raise ValueError("not the value of a button that shares") from error
    if at.tzinfo is None or not name.isalnum() or len(name) > 32:
        raise ValueError("not the value of a button that shares")
    return words, at.astimezone(UTC), name
