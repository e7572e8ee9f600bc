"""Closes the ledger: takes its lock, waiting as long as somebody else holds it, and checks that the entries balance."""

import csv
import fcntl
import json
import sys
from pathlib import Path


def main() -> None:
    with Path("data/ledger.lock").open("a") as lock:
        print("waiting for the ledger's lock", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with Path("data/ledger.csv").open(newline="") as file:
            cents = [round(float(row["amount"]) * 100) for row in csv.DictReader(file)]
        if sum(cents) != 0:
            sys.exit(f"the ledger is off by {sum(cents) / 100:.2f}")
        passing = Path("out/ledger.json.new")
        passing.write_text(json.dumps({"entries": len(cents), "balance": 0}))
        passing.rename("out/ledger.json")
    print(f"closed the ledger, {len(cents)} entries")


if __name__ == "__main__":
    main()
