"""Slack's rich text as rules: sections, lists, quotes, preformatted; it must hold no other block."""

from bot.sandbox.slack.objects import channel_id, url, user_id
from bot.sandbox.slack.rules import Check, boolean, integer, items, one_of, record, string, tagged, typed

MANY = 1000
LETTERS = 11_300

_style = record(
    required={},
    optional={"bold": boolean, "italic": boolean, "strike": boolean, "code": boolean, "underline": boolean},
)
_words = typed("text", required={"text": string(most=LETTERS, counted=True)}, optional={"style": _style})
_link = typed(
    "link",
    required={"url": url},
    optional={"text": string(most=LETTERS, counted=True), "unsafe": boolean, "style": _style},
)
_inline = tagged(
    {
        "text": _words,
        "link": _link,
        "user": typed("user", required={"user_id": user_id}, optional={"style": _style}),
        "usergroup": typed("usergroup", required={"usergroup_id": string(most=32)}, optional={"style": _style}),
        "channel": typed("channel", required={"channel_id": channel_id}, optional={"style": _style}),
        "broadcast": typed("broadcast", required={"range": one_of("here", "channel", "everyone")}),
        "emoji": typed("emoji", required={"name": string(most=100)}, optional={"unicode": string(most=64)}),
        "date": typed(
            "date",
            required={"timestamp": integer(least=0, most=9_999_999_999), "format": string(most=200)},
            optional={"url": url, "fallback": string(most=500), "style": _style},
        ),
        "color": typed("color", required={"value": string(most=7, pattern=r"#[0-9a-fA-F]{6}")}),
    }
)
_verbatim = tagged({"text": _words, "link": _link})
_border = {"border": integer(least=0, most=1)}
_section = typed("rich_text_section", required={"elements": items(_inline, most=MANY, least=0)})

ELEMENTS: dict[str, Check] = {
    "rich_text_section": _section,
    "rich_text_quote": typed("rich_text_quote", required={"elements": items(_inline, most=MANY)}, optional=_border),
    "rich_text_preformatted": typed(
        "rich_text_preformatted",
        required={"elements": items(_verbatim, most=MANY)},
        optional={**_border, "language": string(most=50)},
    ),
    "rich_text_list": typed(
        "rich_text_list",
        required={"style": one_of("bullet", "ordered"), "elements": items(_section, most=MANY)},
        optional={**_border, "indent": integer(least=0, most=8), "offset": integer(least=0, most=MANY)},
    ),
}
elements = items(tagged(ELEMENTS), most=MANY)
