"""A message as plain text."""

from bot.sandbox.slack.layout import BLOCKS
from bot.sandbox.slack.text import _DRAWN, plain, text_of

NAMES = {"U0ANA": "ana", "S0DATA": "data-oncall", "C0DATA": "data-jobs"}


def test_mentions_links_and_escapes_are_spelled_out() -> None:
    words = (
        "<@U0ANA> of <!subteam^S0DATA> in <#C0DATA>: <https://example.com|log> &lt;!channel&gt; <!date^1^{time}|02:46>"
    )

    assert plain(words, NAMES) == "@ana of @data-oncall in #data-jobs: log (https://example.com) <!channel> 02:46"


def test_a_thread_reads_like_the_page() -> None:
    words = {"type": "plain_text", "text": "load failed"}
    error = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "KeyError\n at 1"}]}
    button = {"type": "button", "text": {"type": "plain_text", "text": "Rerun"}, "action_id": "r"}
    cells = [[{"type": "raw_text", "text": "fact"}, {"type": "raw_text", "text": "now"}]]
    blocks = [
        {"type": "header", "text": words},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Owed*\n1 run"}]},
        {"type": "rich_text", "elements": [error]},
        {"type": "container", "title": words, "child_blocks": [{"type": "table", "rows": cells}]},
        {"type": "actions", "elements": [button]},
    ]

    assert text_of({"blocks": blocks}, NAMES).splitlines() == [
        "# load failed",
        "  *Owed*: 1 run",
        "    KeyError",
        "     at 1",
        "v load failed",
        "  | fact | now |",
        "[Rerun]",
    ]


def test_every_block_that_is_taken_can_be_read() -> None:
    assert set(_DRAWN) == set(BLOCKS)
