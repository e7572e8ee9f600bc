"""Every kind of error in a policies file, with the place and the words that a person gets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.policies import PolicyError, check, load

CASES = Path(__file__).with_name("bad_files.txt")
ENV = {"INHOUSE_SECRET": "wJalrXUtnFEMI", "EMPTY": "", "HOME": "/home/x"}


def cases() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for section in CASES.read_text().split("\n=== ")[1:]:
        name, _, rest = section.partition("\n")
        text, _, told = rest.rpartition("\n---")
        yield name, text, tuple(told.strip("\n").split("\n"))


@pytest.mark.parametrize(("name", "text", "told"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_a_bad_file_is_refused_with_all_its_errors(name: str, text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(PolicyError) as refused:
        load(text, env=ENV)

    assert tuple(str(problem) for problem in refused.value.problems) == told
    assert check(text, env=ENV) == refused.value.problems


def test_no_message_shows_what_came_from_the_environment() -> None:
    shown = "\n".join(str(problem) for _, text, _ in cases() for problem in check(text, env=ENV))

    assert ENV["INHOUSE_SECRET"] not in shown
