"""The faults that somebody ordered, and which call meets one; it must carry none of them out."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.sandbox.slack.wire import Refusal

Json = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Fault:
    """What shall go wrong with calls of `method` (`*`: any), for `count` calls (None: until cleared).

    `error`, `status` and `before` stop a call from being accepted; `after` lets it be accepted and spoils the answer:
    `drop` cuts the connection, `hang` never answers, `status` answers with `status`. `delay_ms` comes before all.
    """

    method: str
    channel: str | None = None
    contains: str | None = None
    count: int | None = 1
    delay_ms: int = 0
    status: int | None = None
    retry_after: int | None = None
    error: str | None = None
    before: str | None = None
    after: str | None = None
    met: int = 0

    def meets(self, method: str, args: Json) -> bool:
        return (
            self.count != 0
            and self.method in ("*", method)
            and self.channel in (None, args.get("channel"), args.get("channel_id"))
            and (self.contains is None or self.contains in json.dumps(args, ensure_ascii=False))
        )


@dataclass(slots=True)
class Faults:
    ordered: list[Fault] = field(default_factory=list)

    def order(self, wish: Json) -> Fault:
        """Take in one wish, its shape checked; one that would do nothing is refused."""
        fault = Fault(**wish)
        if not (fault.delay_ms or fault.status or fault.error or fault.before or fault.after):
            raise Refusal("invalid_arguments", messages=["one of delay_ms, status, error, before, after is required"])
        self.ordered.append(fault)
        return fault

    def next_for(self, method: str, args: Json) -> Fault | None:
        """The first fault that this call meets, counted down."""
        for fault in self.ordered:
            if fault.meets(method, args):
                fault.met += 1
                if fault.count is not None:
                    fault.count -= 1
                return fault
        return None

    def listed(self) -> list[Json]:
        return [asdict(fault) for fault in self.ordered]

    def clear(self) -> None:
        self.ordered.clear()
