"""What is wrong with a policies file, each problem with its place. It finds nothing itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One error: `line` and `column` count from 1, `path` is as `jobs[0].rerun.max`, `hint` says what is right."""

    line: int
    column: int
    path: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}: {self.path}: " if self.path else f"{self.line}:{self.column}: "
        return f"{place}{self.message}" + (f" ({self.hint})" if self.hint else "")


class PolicyError(Exception):
    """A policies file that cannot be used, with everything that is wrong with it in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=_place))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """A hint with the known name that `name` resembles most, if any does."""
    near = get_close_matches(name[:100], sorted(set(known)), n=1, cutoff=likeness)
    return f"did you mean {near[0]}?" if near else None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known name that `name` resembles most, else with all of them where they are few."""
    names = sorted(set(known))
    listed = f"known: {', '.join(names)}" if 0 < len(names) <= 12 else None
    return did_you_mean(name, names) or listed


def _place(problem: Problem) -> tuple[int, int, str, str]:
    return problem.line, problem.column, problem.path, problem.message
