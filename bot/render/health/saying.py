"""Figures in words: periods, percentiles, shares, measures and verdicts, always with n. It must not choose what is told."""

from collections.abc import Mapping
from datetime import date, timedelta

from bot.incidents.health import SMALL, Comparison, Health, Period, Scope, Share, Times, Unit, Verdict
from bot.render.moments import span
from bot.render.text import one_line, shortened_middle

TITLES: Mapping[str, str] = {
    "acknowledged": "Time to answer",
    "answered": "Answered by somebody",
    "recovery": "Time to recovery",
    "automatic": "Automatic reruns that worked",
    "approved": "Approved reruns that worked",
    "occurrences": "Failures",
    "repeats": "Repeat failures",
    "late": "Late runs",
    "delay": "Delay downstream",
    "settled": "Settled by the end",
    "unresolved": "Unresolved at the end",
    "corrected": "Corrected by reviewers",
}
VERDICTS: Mapping[Verdict, str] = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.NOISE: "no more than chance",
    Verdict.TOO_FEW: "too few to say",
}
DECISIONS: Mapping[str, str] = {"fixed": "fixed", "paused": "paused", "retired": "retired", "left": "left as they are"}
CASES: Mapping[str, str] = {
    **DECISIONS,
    "recovered": "by a rerun",
    "recovered_by_hand": "run by hand",
    "recovered_alone": "by themselves",
    "not_needed": "not needed",
}


def scope_words(scope: Scope) -> str:
    """`finance`, `cause disk.full of finance`, `All jobs`."""
    if scope.job is not None:
        whose = shortened_middle(one_line(str(scope.job), 1000), 90)
    else:
        whose = one_line(scope.team, 60) if scope.team is not None else ""
    if scope.scheduler is not None and scope.job is None:
        whose = (
            f"{whose} on {one_line(scope.scheduler, 40)}" if whose else f"All jobs of {one_line(scope.scheduler, 40)}"
        )
    if scope.cause is not None:
        return f"{whose or 'All jobs'}, cause {one_line(scope.cause, 60)}"
    return whose or "All jobs"


def period_words(period: Period) -> str:
    """`the last 30 days`, `since 1 Nov 2026`, `1 Oct 2026 to 31 Oct 2026`."""
    name = period.name
    if name.endswith("d") and name[:-1].isdigit():
        days = int(name[:-1])
        return "the last 24 hours" if days == 1 else f"the last {days} days"
    if name.startswith("since "):
        return f"since {day_words(name.removeprefix('since '))}"
    first, dots, last = name.partition("..")
    return f"{day_words(first)} to {day_words(last)}" if dots else one_line(name, 60)


def in_period(period: Period) -> str:
    """As part of a sentence: `in the last 30 days`, `since 1 Nov 2026`, `from 1 Oct 2026 to 31 Oct 2026`."""
    words = period_words(period)
    if words.startswith("since"):
        return words
    return f"in {words}" if words.startswith("the last") else f"from {words}"


def day_words(text: str | date, *, year: bool = True) -> str:
    try:
        day = text if isinstance(text, date) else date.fromisoformat(text)
    except ValueError:
        return one_line(str(text), 30)
    return f"{day.day} {day:%b %Y}" if year else f"{day.day} {day:%b}"


def times_words(times: Times) -> str:
    """Percentiles where there are enough values for them, else the middle one and the longest; always n."""
    if times.p50 is None or times.p90 is None:
        return "nothing to measure (n=0)"
    if times.n == 1:
        return f"{span(times.p50)} (n=1)"
    if times.n < SMALL:
        return f"{span(times.p50)} in the middle, {span(times.p90)} at most (n={times.n})"
    return f"half within {span(times.p50)}, nine in ten within {span(times.p90)} (n={times.n})"


def middle_words(times: Times) -> str:
    """The middle one alone, for tables; a dash where there is none."""
    return "–" if times.p50 is None else span(times.p50)


def share_words(share: Share) -> str:
    """`9 of 12`, with a percentage where there are enough."""
    if share.n == 0:
        return "none"
    fraction = share.fraction
    return f"{share.yes} of {share.n}" if fraction is None else f"{round(100 * fraction)} % ({share.yes} of {share.n})"


def hours_words(duration: timedelta) -> str:
    """Job-hours: `7.5 job-hours`."""
    return f"{duration / timedelta(hours=1):.3g} job-hours"


def answered_words(times: Times) -> str:
    """The end of the first sentence: in what time people answered."""
    if times.p50 is None:
        return ""
    how = "p50" if times.n >= SMALL else "the middle one" if times.n > 1 else "one"
    return f"answered in {span(times.p50)} ({how}, n={times.n})"


def sentence(health: Health, *, open_count: int) -> str:
    """What a manager reads first."""
    whose, when = scope_words(health.scope), in_period(health.period)
    if not health.occurrences and not health.completed:
        still = f"; {open_count} still open from before" if open_count else ""
        return f"{whose}: no failure and no late run {when}{still}."
    failures = "1 failure" if health.occurrences == 1 else f"{health.occurrences} failures"
    answered = answered_words(health.acknowledged)
    end = f"; {answered}" if answered else "; nobody's answer to measure"
    return f"{whose}: {failures} {when}, {health.completed} settled, {open_count} open now{end}."


def says_nothing(comparison: Comparison) -> bool:
    """Whether there was nothing on either side."""
    return not comparison.before and not comparison.after


def title_of(measure: str) -> str:
    return TITLES.get(measure) or measure.replace("_", " ").capitalize()


def value_words(comparison: Comparison, value: float | None, n: int) -> str:
    """One side of a comparison."""
    if value is None:
        return "nothing"
    match comparison.unit:
        case Unit.SECONDS:
            return span(timedelta(seconds=value))
        case Unit.A_WEEK:
            return f"{value:.3g} a week"
        case Unit.SHARE:
            return f"{round(100 * value)} %" if n >= SMALL else f"{round(value * n)} of {n}"
        case _:
            return f"{value:.3g}"


def verdict_words(comparison: Comparison) -> str:
    """`better (p=0.01)`; chance and too few claim nothing."""
    said = VERDICTS[comparison.verdict]
    p = comparison.p
    if p is None or comparison.verdict is Verdict.TOO_FEW:
        return said
    return f"{said} (p<0.001)" if p < 0.001 else f"{said} (p={p:.2g})"
