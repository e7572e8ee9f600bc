"""Answers about job health in words, blocks, pictures and CSV: golden, within Slack's limits, and a call to nobody."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from bot.health.pictures import Pictures
from bot.incidents.health import Comparison, Times, Unit, Verdict
from bot.render.health import (
    BaselineShown,
    HealthHelp,
    baseline_message,
    csv_text,
    health_message,
    help_message,
    picture_of,
)
from bot.render.health.bars import bars_of
from bot.render.health.saying import share_words, times_words
from bot.render.plain import plain
from bot.render.rendered import Rendered
from bot.sandbox.slack.blocks import check_message
from bot.sandbox.slack.text import text_of
from tests.health import answers
from tests.house.tree import ROOT
from tests.render.checking import SCHEMA, characters, golden_message, refused
from tests.render.test_hostile import TEXTS

Block = dict[str, Any]


def rejected(rendered: Rendered) -> list[str]:
    """What is wrong with either form; of charts and sortable tables, which the schema does not know, what the stand-in finds."""
    classic = replace(rendered, richer=())
    if not rendered.richer:
        return refused(classic)
    known = [block for block in rendered.richer if not block["type"].startswith("data_")]
    found = [
        f"{each.pointer}: {each.message}" for each in check_message({"text": "x", "blocks": list(rendered.richer)})
    ]
    found += [f"{each.json_path}: {each.message[:200]}" for each in SCHEMA.iter_errors(known)]
    if characters(rendered.richer) > 9_000:
        found.append("too long")
    return [*refused(classic), *found]


def golden(name: str, rendered: Rendered) -> None:
    """The classic form as the messages' golden files; the richer one as the stand-in reads it."""
    golden_message(f"health {name}", replace(rendered, richer=()))
    if rendered.richer:
        shown = text_of({"text": rendered.text, "blocks": list(rendered.richer)}, NAMES)
        golden_message(f"health {name} rich", Rendered(text=rendered.text, blocks=(preformatted(shown),)))


class _Names(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


NAMES: Any = _Names()


def preformatted(text: str) -> Block:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}],
    }


@pytest.mark.parametrize("name", answers.ANSWERS)
def test_an_answer_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    rendered = health_message(answers.ANSWERS[name])

    assert rejected(rendered) == []
    golden(name, rendered)


def test_help_and_the_baseline_read_as_their_golden_files() -> None:
    wrong = HealthHelp(
        problem="I know no team and no job “financ”.", near=("finance",), examples=("finance 30d vs previous", "7d")
    )
    messages = {
        "help": help_message(HealthHelp(examples=("finance 30d vs previous", "7d"))),
        "not understood": help_message(wrong),
        "baseline": baseline_message(BaselineShown(baseline=answers.BASELINE)),
        "baseline new": baseline_message(BaselineShown(baseline=answers.BASELINE, new=True)),
        "baseline none": baseline_message(BaselineShown(baseline=None)),
        "baseline refused": baseline_message(BaselineShown(baseline=None, refused=True, may=("Maria", "Rita"))),
    }
    for name, rendered in messages.items():
        assert refused(rendered) == []
        golden(name, rendered)


def test_a_manager_reads_the_sum_of_it_first() -> None:
    rendered = health_message(answers.USUAL)

    assert rendered.text == (
        "finance: 12 failures in the last 30 days, 9 settled, 3 open now; answered in 14 min (p50, n=11)."
    )
    assert plain(rendered).split("\n")[2].startswith("finance: 12 failures")


@pytest.mark.scenario(40)
def test_of_few_the_numbers_are_said_instead_of_a_percentage() -> None:
    assert share_words(answers.FINANCE.approved) == "2 of 3"
    assert share_words(answers.FINANCE.automatic) == "86 % (12 of 14)"
    assert times_words(Times()) == "nothing to measure (n=0)"
    assert times_words(Times(n=2, p50=timedelta(minutes=1), p90=timedelta(hours=1))) == (
        "1 min in the middle, 1 h at most (n=2)"
    )


@pytest.mark.scenario(40)
def test_what_is_missing_or_left_out_is_said() -> None:
    nothing, away = (plain(health_message(answers.ANSWERS[name])) for name in ("nothing", "downtime"))

    assert "No data" in nothing
    assert "n=0" in nothing
    assert "1 value left out" in away
    assert "away for 3 h" in away
    assert "No baseline is set" in plain(health_message(answers.ANSWERS["no baseline"]))


def test_every_figure_of_a_comparison_says_its_n_and_verdict() -> None:
    text = plain(health_message(answers.ANSWERS["compared"]))

    for words in ("better (p=0.004)", "worse (p<0.001)", "no more than chance (p=0.41)", "too few to say"):
        assert words in text
    assert "2 of 4 (n=4)" not in text
    assert "3 of 4 (n=4)" in text


def test_all_days_stand_in_few_bars() -> None:
    bars = bars_of(answers.days([1] * 31))

    assert len(bars) == 16
    assert sum(bar.opened for bar in bars) == 31


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_no_text_from_outside_makes_slack_refuse_or_call(text: str) -> None:
    helped = HealthHelp(problem=text, near=(text,) * 3, examples=(text,))
    for rendered in (health_message(answers.hostile(text)), help_message(helped)):
        assert rejected(rendered) == []
        assert "<!" not in rendered.text
        assert "<@" not in rendered.text


@pytest.mark.scenario(25)
def test_much_more_than_fits_is_within_the_limits() -> None:
    long = "a team of a very " + "long " * 20 + "name {}"
    for answer in (answers.hostile(), answers.many_teams(400), answers.many_teams(90, long)):
        rendered = health_message(answer)
        assert rejected(rendered) == []
        assert any(block["type"] == "data_table" for block in rendered.richer)
        assert any(block["type"] == "actions" for block in rendered.richer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a CSV."""

    job: str
    took: timedelta | None
    good: bool = True


def test_a_csv_has_a_head_and_no_formula() -> None:
    lines: Sequence[Line] = (
        Line(job="=cmd|'/C calc'!A0", took=timedelta(minutes=2)),
        Line(job='a "b", c\nd', took=None, good=False),
        Line(job="-5", took=None),
    )

    assert csv_text(lines) == ('job,took,good\r\n\'=cmd|\'/C calc\'!A0,120,yes\r\n"a ""b"", c\nd",,no\r\n\'-5,,yes\r\n')
    assert csv_text(()) == "no occurrence\r\n"


def test_a_picture_is_drawn_once_in_a_process_of_its_own() -> None:
    pictures = Pictures()
    data = picture_of(answers.ANSWERS["compared"].report)
    drawn = pictures.png(data)

    assert drawn is not None
    assert drawn.startswith(b"\x89PNG")
    assert 10_000 < len(drawn) < 300_000
    assert pictures.png(data) is drawn


def test_a_picture_of_anything_can_be_drawn() -> None:
    assert Pictures().png(picture_of(answers.hostile("$\\frac{x}{$ \u202e 日本 <b>").report)) is not None
    assert Pictures().png(picture_of(answers.ANSWERS["nothing"].report)) is not None


def test_the_service_starts_without_the_library_that_draws() -> None:
    loaded = "import bot.cli.main, sys; sys.exit('matplotlib' in sys.modules or 'numpy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, check=False).returncode == 0


def test_a_picture_that_takes_too_long_is_done_without() -> None:
    assert Pictures(within=timedelta(milliseconds=1)).png(picture_of(answers.USUAL.report)) is None


def test_a_comparison_of_an_unknown_measure_is_told_by_its_name() -> None:
    odd = Comparison(
        measure="new_measure", unit=Unit.COUNT, before=2, after=3, n_before=20, n_after=20, verdict=Verdict.NOISE, p=0.5
    )

    assert "New measure: 3 (n=20), before 2 (n=20)" in plain(health_message(answers.compared(odd)))
