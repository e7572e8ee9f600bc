"""A letter as it is sent: HTML and plain text of the same parts, small enough that no reader cuts it off. Escapes everything."""

from dataclasses import replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from bot.render.mail.model import RenderedMail
from bot.render.mail.parts import Letter, Part, Verbatim
from bot.render.mail.plain_text import plain_text
from bot.render.text import one_line

MOST_BYTES = 100_000
MOST_PREVIEW = 140


def shown(letter: Letter) -> RenderedMail:
    """The letter as a mail; parts are left out, the least needed first, as long as it is too large."""
    letter = replace(letter, preview=one_line(letter.preview, MOST_PREVIEW))
    html = _html(letter)
    while len(html.encode()) > MOST_BYTES and len(letter.parts) > 1:
        letter = replace(letter, parts=_fewer(letter.parts))
        html = _html(letter)
    return RenderedMail(subject=letter.subject, text=plain_text(letter), html=html)


def _fewer(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without the last verbatim one, or without the last of all."""
    verbatim = [index for index, part in enumerate(parts) if isinstance(part, Verbatim)]
    gone = verbatim[-1] if verbatim else len(parts) - 1
    return (*parts[:gone], *parts[gone + 1 :])


def _html(letter: Letter) -> str:
    return _template().render(letter=letter, parts=[(type(part).__name__, part) for part in letter.parts])


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("bot.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        line_statement_prefix="%",
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    return environment.get_template("mail/letter.html.j2")
