"""Bold and code in mrkdwn: only where Slack parses nothing inside the words, else the words stand plain."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.segments import Words, mrkdwn
from bot.render.text import escaped


def bold(text: str) -> str:
    return mrkdwn([Words(text=text, bold=True)], 400)


def code(text: str) -> str:
    return mrkdwn([Words(text=text, code=True)], 400)


@pytest.mark.parametrize("text", ["orders", "ledger_sync", "a_b_c", "finance.daily-revenue", "load 2"])
def test_a_name_is_bold(text: str) -> None:
    assert bold(text) == f"*{text}*"


@pytest.mark.parametrize(
    "text",
    ["_x_", "_tmp", "tmp_", "a __b", "a_ b", "a _b", "a._b", "a*b", "a~b", "a`b", "a\nb", " a", "a ", "", "_", "é_e"],
)
def test_words_in_which_slack_would_parse_something_or_no_bold_are_not_bold(text: str) -> None:
    assert bold(text) == text


@pytest.mark.parametrize("text", ["network.connection_refused", "_x_", "*", "a*b~c_", "%Y-%m_%d"])
def test_nothing_is_parsed_inside_code(text: str) -> None:
    assert code(text) == f"`{text}`"


@pytest.mark.parametrize("text", ["a`b", "`", "a\nb", " a", "a ", ""])
def test_words_that_would_end_the_code_are_not_code(text: str) -> None:
    assert code(text) == text


def test_calls_are_escaped_inside_bold_and_code_and_code_goes_before_bold() -> None:
    assert bold("<!channel>") == "*&lt;!channel&gt;*"
    assert code("<@U0ANA>") == "`&lt;@U0ANA&gt;`"
    assert mrkdwn([Words(text="a_b", bold=True, code=True)], 99) == "`a_b`"


@given(st.text(alphabet="ab_*~`\n <>&é.", max_size=12))
def test_no_mark_of_the_words_pairs_with_ours(text: str) -> None:
    strong, verbatim, bare = bold(text), code(text), escaped(text, 400)

    assert strong in (bare, f"*{bare}*")
    assert verbatim in (bare, f"`{bare}`")
    if strong != bare:
        assert not set(bare) & set("*~`\n")
        assert re.search(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", bare) is None
    if verbatim != bare:
        assert not set(bare) & set("`\n")
