"""Sends what the spool holds to `POST /api/v1/events`, the oldest first, within a time. What is not taken stays."""

import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

from bot.exec.options import Options
from bot.exec.spool import Spool

BATCH = 50
CALL_WITHIN = 5.0
MOST_ANSWER = 4 * 1024 * 1024


class NotTaken(Exception):
    """Nothing was taken, or it is not known; the text says why."""


def flush(spool: Spool, options: Options, *, within: float) -> bool:
    """Send all that waits; False: some of it still does, said on standard error."""
    if options.url is None or options.token is None:
        missing = "ONTRACK_URL" if options.url is None else "ONTRACK_TOKEN"
        sys.stderr.write(f"ontrack exec: {missing} is not set: the report waits in {options.spool}\n")
        return False
    until = time.monotonic() + within
    with spool.alone(within=within) as alone:
        while alone and (batch := spool.oldest(most=BATCH, scheduler=options.scheduler)):
            left = until - time.monotonic()
            if left <= 0:
                return False
            try:
                _send(spool, options, batch, within=min(left, CALL_WITHIN))
            except NotTaken as why:
                sys.stderr.write(f"ontrack exec: not reported yet ({why}): it is sent later\n")
                return False
    return alone


def _send(spool: Spool, options: Options, batch: list[tuple[str, dict[str, Any]]], *, within: float) -> None:
    results = _post(options, [event for _, event in batch], within=within)
    if len(results) != len(batch):
        raise NotTaken("its answer does not fit the report")
    for (name, _), result in zip(batch, results, strict=True):
        if result.get("result") == "rejected":
            spool.rejected(name, str(result.get("reason")))
        else:
            spool.done(name)


def _post(options: Options, events: list[dict[str, Any]], *, within: float) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"{options.url}/api/v1/events",
        data=json.dumps(events).encode(),
        headers={
            "Authorization": f"Bearer {options.token}",
            "Content-Type": "application/cloudevents-batch+json",
            "User-Agent": "ontrack-exec",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=within) as answer:
            body = answer.read(MOST_ANSWER)
    except urllib.error.HTTPError as refused:
        body = refused.read(MOST_ANSWER)
        if refused.code != 422:
            raise NotTaken(f"{options.url} answered {refused.code} {refused.reason}") from refused
    except (OSError, ValueError) as failed:
        raise NotTaken(f"{options.url}: {getattr(failed, 'reason', failed)}") from failed
    try:
        results = json.loads(body)["results"]
        return [dict(result) for result in results]
    except (ValueError, KeyError, TypeError) as odd:
        raise NotTaken("its answer is not ontrack's") from odd
