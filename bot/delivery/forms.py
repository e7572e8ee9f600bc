"""Which form of an answer a workspace takes: the richest first, the next where it refuses. It must not send anything twice.

What was refused for its blocks is not tried again for a day.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum

from bot.delivery.fitting import TOO_LONG
from bot.delivery.richer import UNKNOWN_BLOCKS
from bot.ports import Clock, SendFailed

log = logging.getLogger(__name__)

REMEMBERED = timedelta(days=1)


class Form(StrEnum):
    """What not every workspace draws."""

    RICHER = "richer"
    PICTURE = "picture"


class Forms:
    """What this workspace refused lately; safe among threads, since each value is replaced whole."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._refused_until: dict[Form, datetime] = {}

    def takes(self, form: Form) -> bool:
        until = self._refused_until.get(form)
        return until is None or self._clock() >= until

    def tried(self, form: Form, send: Callable[[], None]) -> bool:
        """Whether the workspace took it; raises `SendFailed` where it failed for anything but its form."""
        if not self.takes(form):
            return False
        try:
            send()
        except SendFailed as failed:
            if failed.uncertain or failed.code not in UNKNOWN_BLOCKS | TOO_LONG:
                raise
            if failed.code in UNKNOWN_BLOCKS:
                self._refused_until[form] = self._clock() + REMEMBERED
            log.warning("the workspace refused a form", extra={"form": form.value, "code": failed.code})
            return False
        return True
