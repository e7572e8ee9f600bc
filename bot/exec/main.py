"""Runs the command and reports its begin and its end; whatever befalls the report, the command's result stays its own."""

import os
import sys
import threading
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.exec import events
from bot.exec.command import MOST_LOG, Ended, run
from bot.exec.options import Options, options_of
from bot.exec.sending import flush
from bot.exec.spool import Spool

BEGIN_WITHIN = 5.0
END_WITHIN = 10.0
FLUSH_WITHIN = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Be `exec`: returns the status to exit with."""
    options = options_of(sys.argv[2:] if arguments is None else arguments, os.environ, now=datetime.now(UTC))
    spool = Spool(options.spool)
    if options.only_flush:
        return 0 if flush(spool, options, within=FLUSH_WITHIN) else 1
    return _reported(options, spool)


def _reported(options: Options, spool: Spool) -> int:
    started_at = datetime.now(UTC)
    run_id = events.run_id_of(options, started_at, uuid.uuid4().hex[:8])
    begun = threading.Thread(
        target=_told,
        args=(options, spool, events.started(options, run_id, started_at)),
        kwargs={"within": BEGIN_WITHIN},
        daemon=True,
    )
    begun.start()

    def ended(how: Ended) -> None:
        begun.join(BEGIN_WITHIN)
        _told(options, spool, events.finished(options, run_id, started_at, datetime.now(UTC), how), within=END_WITHIN)

    return run(options.command, keep=MOST_LOG if options.keeps_log else 0, ended=ended)


def _told(options: Options, spool: Spool, event: dict[str, Any], *, within: float) -> None:
    try:
        spool.put(event)
        flush(spool, options, within=within)
    except Exception as failed:  # noqa: BLE001 no fault of ours may change what becomes of the command
        sys.stderr.write(f"ontrack exec: not reported: {failed!r}\n")
