"""Pictures of answers, each drawn in a process of its own and remembered for a while. It must not draw in this process.

A process that hangs or fails costs its picture, nothing else.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from datetime import timedelta
from pathlib import Path

from bot.render.health import PictureData

logger = logging.getLogger(__name__)

REMEMBERED = 64
WITHIN = timedelta(seconds=20)
AT_ONCE = 1
MOST_BYTES = 2 * 1024 * 1024
DRAWS = "bot.render.health.drawing"


class Pictures:
    """Safe to use from many threads; at most one picture is drawn at a time."""

    def __init__(self, *, remembered: int = REMEMBERED, within: timedelta = WITHIN) -> None:
        self._remembered = remembered
        self._within = within
        self._drawn: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def png(self, data: PictureData) -> bytes | None:
        """The picture; None when it could not be drawn."""
        written = json.dumps(data.as_json())
        if (known := self._known(written)) is not None:
            return known
        if not self._turns.acquire(timeout=self._within.total_seconds()):
            return None
        try:
            drawn = self._known(written) or self._draw(written)
        finally:
            self._turns.release()
        if drawn is not None:
            with self._lock:
                self._drawn[written] = drawn
                while len(self._drawn) > self._remembered:
                    self._drawn.popitem(last=False)
        return drawn

    def _known(self, written: str) -> bytes | None:
        with self._lock:
            return self._drawn.get(written)

    def _draw(self, written: str) -> bytes | None:
        try:
            done = subprocess.run(
                [sys.executable, "-m", DRAWS],
                input=written.encode(),
                capture_output=True,
                timeout=self._within.total_seconds(),
                check=True,
                env=_surroundings(),
                cwd=Path(__file__).parents[2],
            )
        except (subprocess.SubprocessError, OSError) as failed:
            said = getattr(failed, "stderr", None) or b""
            logger.warning("a picture could not be drawn", extra={"detail": said[-500:].decode("utf-8", "replace")})
            return None
        return done.stdout if done.stdout.startswith(b"\x89PNG") and len(done.stdout) <= MOST_BYTES else None


def _surroundings() -> dict[str, str]:
    """What the process needs of ours, no secret among it; the library keeps its fonts where one may write."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if name in os.environ}
    place = Path(tempfile.gettempdir()) / f"ontrack-drawing-{os.getuid()}"
    return {**kept, "MPLCONFIGDIR": str(place), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
