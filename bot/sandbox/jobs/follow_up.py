"""Waits for an upstream job's run of this nominal time, then adds up the last column of its table. It changes no input.

Usage: follow_up.py UPSTREAM TABLE REPORT
"""

import csv
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

LOOK_EVERY = 0.1


def wait_for(upstream: str, nominal_time: str) -> None:
    """Return when the upstream job has brought this nominal time, or a later one."""
    done = Path(f"out/{upstream}.done")
    while not (done.exists() and done.read_text() >= nominal_time):
        time.sleep(LOOK_EVERY)


def main() -> None:
    upstream, table, report = sys.argv[1:4]
    print(f"waiting for {upstream}", flush=True)
    wait_for(upstream, os.environ["ONTRACK_NOMINAL_TIME"])
    totals = Counter[str]()
    with Path(table).open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            totals[row[0]] += round(float(row[-1]) * 1_000_000)
    passing = Path(f"{report}.new")
    passing.write_text(json.dumps({key: total / 1_000_000 for key, total in sorted(totals.items())}, indent=2))
    passing.rename(report)
    print(f"wrote {report}, {len(totals)} lines")


if __name__ == "__main__":
    main()
