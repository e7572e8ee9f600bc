"""What somebody types after `/job-health`, on its page or on the command line, as a question or as help. Never an error.

It must not read figures, nor judge who may set a baseline.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches

from bot.health.names import Names
from bot.health.periods import BadPeriod, last_days, range_of, since_day
from bot.health.query import Query, Versus
from bot.incidents.health import Period, Scope
from bot.incidents.keys import JobKey

MOST_LETTERS = 500
NEAR = 3
COMPARED_NAMES = 4_000
USUAL = timedelta(days=30)
_TOKEN = re.compile(r'(?:[^\s"“”]|["“”][^"“”]*["“”])+|["“”]')
_GROUP = re.compile(r"<!subteam\^([A-Z0-9]{1,40})(?:\|[^>]*)?>")
_MENTION = re.compile(r"<[@#!][^>]*>")
_LENGTH = re.compile(r"([0-9]{1,5})([dw])")
_RANGE = re.compile(r"(\S+?)\.\.(\S+)")
_QUOTES = str.maketrans("", "", '"“”')
_VERSUS = frozenset({"vs", "vs.", "versus", "against", "compared"})
_HELP = frozenset({"help", "?", "-h", "--help"})
_KINDS = ("team", "job", "cause", "scheduler")


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """How to ask. `problem`: what was not understood (empty: somebody asked for help); `near`: names close to what was said."""

    problem: str = ""
    near: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that was understood; `plain_period`: no period was named, so that a comparison may choose it. `zone`: its days."""

    query: Query
    zone: str = "UTC"
    plain_period: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAsked:
    """What the baseline is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineWanted:
    """The wish to set the baseline."""

    period: Period
    review: Period


Asked = Question | Help | BaselineAsked | BaselineWanted


class _NotUnderstood(Exception):
    def __init__(self, problem: str, near: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.help = Help(problem=problem, near=tuple(near))


@dataclass(slots=True, kw_only=True)
class _Found:
    """What the words have said so far."""

    scope: dict[str, str | JobKey] = field(default_factory=dict)
    period: str = ""
    versus: Versus | None = None


def understood(text: str, *, names: Names, now: datetime) -> Asked:
    """What `text` asks for at `now`; whatever it is, the answer is one of the four."""
    words = tuple(each.translate(_QUOTES) for each in _TOKEN.findall(_unescaped(text[:MOST_LETTERS])))
    words = tuple(each for each in words if each)
    try:
        if any(each.lower() in _HELP for each in words):
            return Help(examples=_examples(names))
        if words and words[0].lower() == "baseline":
            return _baseline(words[1:], now)
        return _question(words, names, now)
    except _NotUnderstood as failed:
        return Help(problem=failed.help.problem, near=failed.help.near, examples=_examples(names))
    except BadPeriod as failed:
        return Help(problem=str(failed), examples=_examples(names))


def words_of(query: Query) -> str:
    """The words that ask for the same scope, period and comparison again."""
    versus = f"vs {query.versus}" if query.versus is not None else ""
    return " ".join(filter(None, (scope_words(query.scope), query.period.name, versus)))


def scope_words(scope: Scope) -> str:
    """The words that ask for this scope again; empty for the whole company."""
    pairs = (("team", scope.team), ("job", scope.job), ("scheduler", scope.scheduler), ("cause", scope.cause))
    return " ".join(_quoted(f"{kind}:{value}") for kind, value in pairs if value is not None)


def _question(words: Sequence[str], names: Names, now: datetime) -> Question:
    found, left = _Found(), list(words)
    while left:
        _take(left, found, names)
    scope = Scope(**found.scope)  # type: ignore[arg-type]
    zone = names.zone(scope)
    period = _period(found.period, zone, now) if found.period else last_days(USUAL.days, zone=zone, now=now)
    query = Query(scope=scope, period=period, versus=found.versus)
    return Question(query=query, zone=zone, plain_period=not found.period)


def _take(left: list[str], found: _Found, names: Names) -> None:
    """Read what stands first and take it off."""
    word = left.pop(0)
    low = word.lower()
    if low in _VERSUS:
        _take_versus(left, found)
    elif low in ("since", "last") or _LENGTH.fullmatch(low) or _RANGE.fullmatch(low):
        _take_period(low, left, found)
    elif (kind := low.partition(":")[0]) in _KINDS and ":" in low:
        _take_kind(kind, word.partition(":")[2], left, found, names)
    elif (group := _GROUP.fullmatch(word)) is not None:
        team = names.team_of_group(group[1])
        if team is None:
            raise _NotUnderstood("No team of policies.yaml has that group.", tuple(names.teams())[:NEAR])
        _keep(found, "team", team)
    elif _MENTION.fullmatch(word):
        raise _NotUnderstood("Figures are told of teams and jobs, never of a person or a channel.")
    else:
        _take_name(word, left, found, names)


def _take_versus(left: list[str], found: _Found) -> None:
    if left and left[0].lower() in ("with", "to"):
        left.pop(0)
    said = left.pop(0) if left else ""
    if said.lower() not in tuple(Versus):
        raise _NotUnderstood(f"Compared with what? I know “vs previous” and “vs baseline”, not “vs {said}”.")
    if found.versus is not None:
        raise _NotUnderstood("One comparison at a time, please.")
    found.versus = Versus(said.lower())


def _take_period(word: str, left: list[str], found: _Found) -> None:
    if word == "last":
        word = left.pop(0).lower() if left else ""
        if not _LENGTH.fullmatch(word):
            raise _NotUnderstood(f"Which period? Write it as 7d, not as “last {word}”.")
    if word == "since":
        if not left:
            raise _NotUnderstood("Since when? Write a day, as in since 2026-11-01.")
        word = f"since {left.pop(0)}"
    if found.period:
        raise _NotUnderstood(f"One period at a time, please: {found.period}, or {word}?")
    found.period = word


def _take_kind(kind: str, value: str, left: list[str], found: _Found, names: Names) -> None:
    if not value and left:
        value = left.pop(0)
    if kind == "team":
        group = _GROUP.fullmatch(value)
        named = names.team_of_group(group[1]) if group else _team(value, names)
        if named is None:
            raise _unknown("team", value, tuple(names.teams()))
        _keep(found, kind, named)
    elif kind == "job":
        _keep(found, kind, _job(value, names))
    else:
        known = names.schedulers() if kind == "scheduler" else names.causes()
        _keep(found, kind, _one_of(kind, value, known))


def _take_name(word: str, left: list[str], found: _Found, names: Names) -> None:
    """A team, which may have several words, or a job."""
    for count in range(min(len(left), 5), -1, -1):
        said = " ".join((word, *left[:count]))
        team = _team(said, names) or _team(said.removeprefix("@"), names)
        if team is not None:
            del left[:count]
            _keep(found, "team", team)
            return
    job = _job_or_none(word, names)
    if job is None:
        raise _NotUnderstood(f"I know no team and no job “{word}”.", _nearest(word, names))
    _keep(found, "job", job)


def _keep(found: _Found, kind: str, value: str | JobKey) -> None:
    if found.scope.get(kind, value) != value:
        raise _NotUnderstood(f"One {kind} at a time, please: {found.scope[kind]}, or {value}?")
    found.scope[kind] = value


def _team(said: str, names: Names) -> str | None:
    low = said.lower()
    return next((team for team in names.teams() if team.lower() == low), None)


def _job(said: str, names: Names) -> JobKey:
    job = _job_or_none(said, names)
    if job is None:
        raise _NotUnderstood(f"I know no job “{said}”.", _nearest(said, names))
    return job


def _job_or_none(said: str, names: Names) -> JobKey | None:
    """By its whole key, else by a last part that no other job has."""
    low, found = said.lower(), dict[str, JobKey]()
    for job in names.jobs():
        key = str(job)
        if key == said:
            return job
        if key.lower() == low or _ends_with(key.lower(), low):
            found[key] = job
    whole = {key: job for key, job in found.items() if key.lower() == low or job.name.lower() == low}
    fitting = whole or found
    if len(fitting) > 1:
        raise _NotUnderstood(f"{len(fitting)} jobs are called “{said}”; write which.", sorted(fitting)[:NEAR])
    return next(iter(fitting.values()), None)


def _ends_with(key: str, part: str) -> bool:
    return bool(part) and key.endswith(part) and key[-len(part) - 1 : -len(part)] in ("/", ".", ":", "-")


def _one_of(kind: str, said: str, known: Sequence[str]) -> str:
    low = said.lower()
    for name in known:
        if name.lower() == low:
            return name
    ending = [name for name in known if _ends_with(name.lower(), low)]
    if len(ending) == 1:
        return ending[0]
    raise _unknown(kind, said, ending or known)


def _unknown(kind: str, said: str, known: Sequence[str]) -> _NotUnderstood:
    return _NotUnderstood(f"I know no {kind} “{said}”.", _close(said, known) or tuple(known)[:NEAR])


def _period(said: str, zone: str, now: datetime) -> Period:
    if (length := _LENGTH.fullmatch(said)) is not None:
        return last_days(int(length[1]) * (7 if length[2] == "w" else 1), zone=zone, now=now)
    if said.startswith("since "):
        return since_day(said.removeprefix("since "), zone=zone, now=now)
    return range_of(said, zone=zone, now=now)


def _baseline(words: Sequence[str], now: datetime) -> Asked:
    low = [each.lower() for each in words]
    if not low:
        return BaselineAsked()
    if low[0] != "set" or len(low) not in (2, 4) or (len(low) == 4 and low[2] != "review"):
        raise _NotUnderstood(
            "Write “baseline set 2026-10-01..2026-10-31”, and “review 2026-11-01..2026-11-30” if you like."
        )
    period = range_of(low[1], zone="UTC", now=now, ahead=True)
    if period.until > now:
        raise _NotUnderstood("A baseline is of days that are over.")
    review = range_of(low[3], zone="UTC", now=now, ahead=True) if len(low) == 4 else _following(period)
    if review.since < period.until:
        raise _NotUnderstood("The review period begins after the baseline has ended.")
    return BaselineWanted(period=period, review=review)


def _following(period: Period) -> Period:
    """As long as it, just after it."""
    until = period.until + period.length
    name = f"{period.until:%Y-%m-%d}..{until - timedelta(days=1):%Y-%m-%d}"
    return Period(since=period.until, until=until, name=name)


def _nearest(said: str, names: Names) -> tuple[str, ...]:
    """Teams and jobs whose names are close to what was said; of very many jobs only those with a part in common."""
    low = said.lower()
    jobs = names.jobs()
    if len(jobs) > COMPARED_NAMES:
        jobs = [job for job in jobs if low[:3] in job.name.lower()][:COMPARED_NAMES]
    by_part: dict[str, str] = {}
    for job in jobs:
        for part in _parts(job):
            by_part.setdefault(part.lower(), str(job))
    teams = {team.lower(): team for team in names.teams()}
    found = get_close_matches(low, [*teams, *by_part], n=2 * NEAR, cutoff=0.6)
    return tuple(dict.fromkeys(teams.get(each) or by_part[each] for each in found))[:NEAR]


def _parts(job: JobKey) -> Iterator[str]:
    yield str(job)
    yield job.name
    yield re.split(r"[./:]", job.name)[-1]


def _close(said: str, known: Sequence[str]) -> tuple[str, ...]:
    by_low = {name.lower(): name for name in known}
    return tuple(by_low[each] for each in get_close_matches(said.lower(), list(by_low), n=NEAR, cutoff=0.5))


def _examples(names: Names) -> tuple[str, str]:
    team = next(iter(names.teams()), None)
    first = f"{_quoted(team)} 30d vs previous" if team else "30d vs previous"
    return first, "since 2026-11-01 vs baseline"


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _unescaped(text: str) -> str:
    """Slack writes three letters as entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
