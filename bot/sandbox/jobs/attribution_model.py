"""Holds the clicks of the last `window_days` in memory and weighs them. A window that is too long eats all it may have."""

import configparser
import hashlib
import json
import time
from pathlib import Path

DAY_TAKES = 0.004
DAY_BYTES = 1_000_000


def main() -> None:
    config = configparser.ConfigParser()
    config.read_string(Path("config/attribution.ini").read_text())
    days = int(config["model"]["window_days"])
    clicks = Path("data/clicks.csv").read_bytes()
    print(f"loading {days} days of clicks", flush=True)
    window: list[bytes] = []
    weights = hashlib.sha256()
    for day in range(days):
        time.sleep(DAY_TAKES)  # about what a day takes from a disk; also gives the guard the time to see it grow
        window.append((clicks * (DAY_BYTES // len(clicks) + 1))[: DAY_BYTES - day])
        weights.update(window[-1][:10_000])
    passing = Path("out/attribution.json.new")
    passing.write_text(json.dumps({"days": days, "weights": weights.hexdigest()}))
    passing.rename("out/attribution.json")
    print(f"weighed {sum(map(len, window))} bytes of clicks")


if __name__ == "__main__":
    main()
