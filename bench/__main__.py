"""`make bench`, or `python -m bench [name ...]`: every figure, or those of the named measurements.

`health` is measured only where it is named, since it makes a record of 5 GB first; it alone takes options.
"""

import sys
from itertools import takewhile

from bench import health, ingest, latency, memory, reading, storm

MEASUREMENTS = {
    "reading": reading.measure,
    "ingest": ingest.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "storm": storm.measure,
}
NAMED_ONLY = {"health": health.measure}


def main(words: list[str]) -> int:
    """Run the named measurements, all that need no name without one; options follow the names."""
    names = list(takewhile(lambda word: not word.startswith("-"), words))
    options = words[len(names) :]
    unknown = [name for name in names if name not in MEASUREMENTS | NAMED_ONLY]
    if unknown:
        known = ", ".join(MEASUREMENTS | NAMED_ONLY)
        print(f"no measurement {', '.join(unknown)}; there are {known}", file=sys.stderr)
        return 2
    if options and names != ["health"]:
        print("only the measurement health takes options, named alone", file=sys.stderr)
        return 2
    for name in names or MEASUREMENTS:
        if name in NAMED_ONLY:
            NAMED_ONLY[name](options)
        else:
            MEASUREMENTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
