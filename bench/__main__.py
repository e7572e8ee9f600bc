"""`make bench`, or `python -m bench [name ...]`: every figure, or those of the named measurements."""

import sys

from bench import ingest, latency, memory, reading, storm

MEASUREMENTS = {
    "reading": reading.measure,
    "ingest": ingest.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "storm": storm.measure,
}


def main(names: list[str]) -> int:
    """Run the named measurements, all without a name."""
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}", file=sys.stderr)
        return 2
    for name in names or MEASUREMENTS:
        MEASUREMENTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
