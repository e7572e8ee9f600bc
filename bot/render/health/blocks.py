"""An answer about job health as a message: what a manager reads first, then figures, the open ones, the table.

`blocks` is whole in classic blocks; `richer` has the charts and the sortable table that Slack draws itself. Within Slack's
limits whatever the names are. It must not say in any form what another one does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.incidents.health import Comparison, Health
from bot.render.actions import ActionId
from bot.render.blocks import Block, actions, button, dialog, preformatted
from bot.render.bounds import MOST_CHARACTERS, bounded, characters
from bot.render.health import saying
from bot.render.health.bars import Pair, chart_blocks, pairs_of
from bot.render.health.cells import MOST_PLAIN_ROWS, MOST_TABLE, data_table, plain_table
from bot.render.health.model import BaselineShown, HealthAnswer, HealthHelp
from bot.render.pages.wording import STATES
from bot.render.readings import amount
from bot.render.rendered import Rendered
from bot.render.segments import Segment
from bot.render.templates import draft, phrases
from bot.render.text import one_line

MOST_BAR = 24
MOST_COMPARED = 12
MOST_VALUE = 2_000
SPARE = 300
"""Characters kept free beside the table, for the button and its question."""


def health_message(answer: HealthAnswer) -> Rendered:
    """The message in both its forms."""
    report = answer.report
    titles = {"opened": "Failures that opened and settled", "index": "Now, where before is 100"}
    charts = chart_blocks(report.days, report.comparisons, **titles)
    caption = one_line(f"By {report.rows_of}, {saying.period_words(report.health.period)}", 150)
    without = characters(_drafted(answer, charts=charts, rows_shown=0).blocks)
    room = min(MOST_TABLE, MOST_CHARACTERS - without - SPARE)
    sortable = data_table(report.rows, report.rows_of, caption=caption, room=room)
    plain = preformatted(plain_table(report.rows, report.rows_of)) if report.rows else None
    drawn = preformatted(bar_lines(pairs_of(report.comparisons))) if pairs_of(report.comparisons) else None
    classic = _drafted(answer, table=plain, drawn=drawn, rows_shown=min(len(report.rows), MOST_PLAIN_ROWS))
    rendered = Rendered(text=classic.text, blocks=(*classic.blocks, *_buttons(answer)))
    if not charts and sortable is None:
        return bounded(rendered)
    shown = len(sortable["rows"]) - 1 if sortable else 0
    rich = _drafted(answer, charts=charts, table=sortable, rows_shown=shown)
    return bounded(replace(rendered, richer=(*rich.blocks, *_buttons(answer))))


def help_message(asked: HealthHelp) -> Rendered:
    drafted = draft("health_help", {"help": asked}, zone="UTC")
    return bounded(Rendered(text=drafted.text, blocks=drafted.blocks))


def baseline_message(shown: BaselineShown) -> Rendered:
    baseline = shown.baseline
    base = saying.period_words(baseline.period) if baseline else ""
    review = saying.period_words(baseline.review) if baseline else ""
    drafted = draft("health_baseline", {"shown": shown, "base": base, "review": review}, zone="UTC")
    return bounded(Rendered(text=drafted.text, blocks=drafted.blocks))


def figures_of(health: Health, *, zone: str) -> tuple[tuple[Segment, ...], ...]:
    """Every figure as a line, with its n."""
    values = {
        "health": health,
        "times": saying.times_words,
        "share": saying.share_words,
        "hours": saying.hours_words,
        "costs": _costs(health),
        "cases": _counted(health.cases, saying.CASES),
        "decisions": _counted(health.decisions, saying.DECISIONS),
        "corrections": _corrections(health),
    }
    return _lines("health_figures", values, zone)


def notes_of(answer: HealthAnswer) -> tuple[tuple[Segment, ...], ...]:
    """What a reader must know of the figures."""
    values = {"health": answer.report.health, "notes": answer.report.notes}
    return _lines("health_notes", values, answer.zone)


def compared_lines(comparisons: Sequence[Comparison]) -> tuple[dict[str, str], ...]:
    """Each comparison in words: both values with their n, then the verdict; those with nothing on either side are left out."""
    return tuple(
        {
            "title": saying.title_of(one.measure),
            "after": f"{saying.value_words(one, one.after, one.n_after)} (n={one.n_after})",
            "before": f"{saying.value_words(one, one.before, one.n_before)} (n={one.n_before})",
            "verdict": saying.verdict_words(one),
            "kind": str(one.verdict),
        }
        for one in comparisons
        if not saying.says_nothing(one)
    )


def nothing_compared(comparisons: Sequence[Comparison]) -> str:
    """The titles of those with nothing on either side."""
    return ", ".join(saying.title_of(one.measure).lower() for one in comparisons if saying.says_nothing(one))


def bar_lines(pairs: Sequence[Pair]) -> str:
    """Before and after as two bars of text for each measure."""
    lines: list[str] = []
    for pair in pairs:
        lines += [
            pair.title,
            f"  before {_bar(pair.before)} {pair.before_words}",
            f"  now    {_bar(pair.after)} {pair.after_words}",
        ]
    return "\n".join(lines)


def sentence_of(answer: HealthAnswer) -> str:
    return saying.sentence(answer.report.health, open_count=answer.open_count)


def _bar(part: float) -> str:
    return ("█" * max(1 if part > 0 else 0, round(part * MOST_BAR))).ljust(MOST_BAR)


def _drafted(
    answer: HealthAnswer,
    *,
    rows_shown: int,
    charts: Sequence[Mapping[str, object]] = (),
    table: Block | None = None,
    drawn: Block | None = None,
) -> Rendered:
    report = answer.report
    values = {
        "answer": answer,
        "ask": f"/job-health {answer.ask}" if answer.ask else "",
        "sentence": sentence_of(answer),
        "scope": saying.scope_words(report.health.scope),
        "period": saying.period_words(report.health.period).capitalize(),
        "notes": notes_of(answer),
        "figures": figures_of(report.health, zone=answer.zone),
        "charts": tuple(charts),
        "before": one_line(report.before_name, 80),
        "compared": compared_lines(report.comparisons[:MOST_COMPARED]),
        "empty": nothing_compared(report.comparisons[:MOST_COMPARED]),
        "drawn": drawn,
        "states": lambda status: STATES.get(status, str(status)).lower(),
        "table": table,
        "rows_of": report.rows_of,
        "row_count": len(report.rows),
        "rows_shown": rows_shown,
    }
    drafted = draft("health", values, zone=answer.zone)
    return Rendered(text=drafted.text, blocks=drafted.blocks)


def _buttons(answer: HealthAnswer) -> tuple[Block, ...]:
    if answer.share is None or len(answer.share) > MOST_VALUE:
        return ()
    text = "Everybody in this conversation will see these figures, under your name."
    ask = dialog(title="Share the figures here?", text=text, yes="Share")
    return (actions("health", [button(ActionId.SHARE_HEALTH, "Share here", value=answer.share, ask=ask)]),)


def _lines(template: str, values: Mapping[str, Any], zone: str) -> tuple[tuple[Segment, ...], ...]:
    return tuple(line for line in phrases(template, values, zone=zone) if any(_says(piece) for piece in line))


def _says(piece: Segment) -> bool:
    text = getattr(piece, "text", "x")
    return bool(str(text).strip())


def _counted(counts: Sequence[tuple[str, int]], words: Mapping[str, str]) -> str:
    return ", ".join(
        f"{count} {words.get(str(name)) or str(name).replace('_', ' ')}" for name, count in counts if count
    )


def _costs(health: Health) -> str:
    """What reruns cost, and what rerunning every failure once would have cost beside that."""
    spent = ", ".join(amount(cost) for cost in health.spent) or "nothing"
    if not health.spent and not health.saved:
        return ""
    saved = (f"{amount(abs(cost.amount), cost.unit)} {'less' if cost.amount < 0 else 'more'}" for cost in health.saved)
    other = ", ".join(saved)
    return f"{spent}; rerunning every failure once would have cost {other}" if other else spent


def _corrections(health: Health) -> str:
    found = health.corrections
    named = (
        (found.cause_changed, "cause changed"),
        (found.false_alarm, "false alarm"),
        (found.wrong_team, "wrong team"),
    )
    return ", ".join(f"{count} {words}" for count, words in named if count)
