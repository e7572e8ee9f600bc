"""Turns the rates that a person keeps in config/rates.ini into data/rates.csv. A number that is none stops it."""

import configparser
import os
from pathlib import Path


def main() -> None:
    config = configparser.ConfigParser()
    config.read_string(Path("config/rates.ini").read_text())
    rates = {currency: float(written) for currency, written in config["rates"].items()}
    lines = ["currency,rate", *(f"{currency},{rate:.6f}" for currency, rate in sorted(rates.items()))]
    passing = Path("data/rates.csv.new")
    passing.write_text("\n".join(lines) + "\n")
    passing.rename("data/rates.csv")
    Path(f"out/{os.environ['ONTRACK_JOB']}.done").write_text(os.environ["ONTRACK_NOMINAL_TIME"])
    print(f"wrote {len(rates)} rates")


if __name__ == "__main__":
    main()
