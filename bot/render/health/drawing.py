"""Draws one picture as PNG, in a process of its own: its data comes on standard input as JSON, the picture goes to standard output.

The service never imports this, since the library that draws is large; it must not be imported by anything.
"""

import io
import json
import sys
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

OPENED, SETTLED, QUIET, CHANCE = "#c2410c", "#0f766e", "#9aa3af", "#5b7fa6"
VERDICTS = {"better": SETTLED, "worse": OPENED}
WIDTH, HEIGHT, PAIR_HEIGHT = 8.0, 3.2, 0.62


def png(data: dict[str, Any]) -> bytes:
    """The picture."""
    matplotlib.rcParams.update({"text.parse_math": False, "font.family": ["DejaVu Sans"], "font.size": 9})
    pairs = data["pairs"]
    tall = PAIR_HEIGHT * len(pairs) + 0.7 if pairs else 0.0
    figure = Figure(figsize=(WIDTH, HEIGHT + tall), dpi=120, layout="constrained")
    if pairs:
        days, beside = figure.subplots(2, 1, height_ratios=[HEIGHT, tall])
        _pairs(beside, pairs)
    else:
        days = figure.subplots()
    _days(days, data)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _days(axes: Axes, data: dict[str, Any]) -> None:
    places = range(len(data["labels"]))
    axes.bar([place - 0.2 for place in places], data["opened"], width=0.4, color=OPENED, label="failed")
    axes.bar([place + 0.2 for place in places], data["settled"], width=0.4, color=SETTLED, label="settled")
    every = max(1, -(-len(data["labels"]) // 9))
    axes.set_xticks([*places][::every], data["labels"][::every])
    axes.set_title(data["title"], loc="left", fontweight="bold")
    axes.set_xlabel(data["below"])
    axes.set_ylim(bottom=0, top=max([1, *data["opened"], *data["settled"]]) * 1.1)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, loc="upper right", ncols=2)
    axes.spines[["top", "right"]].set_visible(False)


def _pairs(axes: Axes, pairs: list[list[Any]]) -> None:
    for row, (_, before, after, before_words, after_words, verdict) in enumerate(pairs):
        now = VERDICTS.get(verdict, CHANCE)
        for shift, value, says, colour in ((-0.2, before, before_words, QUIET), (0.2, after, after_words, now)):
            axes.barh(row + shift, value, height=0.36, color=colour)
            axes.text(value + 0.01, row + shift, says, va="center", fontsize=8)
    axes.set_yticks(range(len(pairs)), [pair[0] for pair in pairs])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.45)
    axes.set_xticks([])
    axes.set_title("before: grey; now: green is better, orange worse, blue chance", loc="left", fontsize=9)
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def main() -> None:
    """Draw what comes on standard input."""
    sys.stdout.buffer.write(png(json.load(sys.stdin)))


if __name__ == "__main__":
    main()
