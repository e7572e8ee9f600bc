"""Adds up data/orders.csv by country into out/orders_summary.json. The healthy job: it must not fail."""

import csv
import json
from collections import Counter
from pathlib import Path


def main() -> None:
    orders, cents = Counter[str](), Counter[str]()
    with Path("data/orders.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            orders[row["country"]] += 1
            cents[row["country"]] += round(float(row["amount"]) * 100)
    summary = {country: {"orders": orders[country], "amount": cents[country] / 100} for country in sorted(orders)}
    passing = Path("out/orders_summary.json.new")
    passing.write_text(json.dumps(summary, indent=2))
    passing.rename("out/orders_summary.json")
    print(f"summed {orders.total()} orders of {len(orders)} countries")


if __name__ == "__main__":
    main()
