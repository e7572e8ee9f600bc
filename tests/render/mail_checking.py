"""Reads a mail as its readers would: an HTML parser that remembers what it saw, words of both forms, golden files."""

import os
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from bot.render.mail import RenderedMail

GOLDEN = Path(__file__).parent / "golden"
VOID = frozenset({"meta", "br"})
KNOWN = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "div", "table", "tr", "td", "th", "h1", "h2", "p", "a"),
        *("code", "strong", "br", "blockquote", "ul", "li", "pre", "span"),
    )
)
ATTRIBUTES = frozenset(
    (
        *("lang", "dir", "charset", "name", "content", "class", "style", "role", "width", "cellpadding", "cellspacing"),
        *("border", "bgcolor", "align", "valign", "scope", "href"),
    )
)
_WORD = re.compile(r"\S+")


@dataclass
class Seen(HTMLParser):
    """What stands in the HTML; `wrong` lists what no mail of ours may hold."""

    wrong: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.wrong += [f"<{tag}>"] if tag not in KNOWN else []
        self.wrong += [f"<{tag} {name}>" for name in given if name not in ATTRIBUTES]
        self.wrong += [
            f"style of <{tag}>" for bad in ("url(", "expression", "@import") if bad in (given.get("style") or "")
        ]
        self.links += [given["href"] or ""] if "href" in given else []
        self.headings += [tag] if tag in ("h1", "h2") else []
        if tag not in VOID:
            self.open.append(tag if "display:none" not in (given.get("style") or "") else "hidden")

    def handle_endtag(self, tag: str) -> None:
        last = self.open.pop() if self.open else ""
        if last not in (tag, "hidden"):
            self.wrong.append(f"</{tag}> ends <{last}>")

    def handle_data(self, data: str) -> None:
        if "hidden" in self.open:
            self.hidden.append(data)
        elif not {"style", "title"} & set(self.open):
            self.texts.append(data)


def seen_in(mail: RenderedMail) -> Seen:
    seen = Seen()
    seen.feed(mail.html)
    seen.close()
    seen.wrong += [f"<{tag}> stays open" for tag in seen.open]
    return seen


def words(text: str) -> list[str]:
    """The words of a text in order, without what parts names from values, in small letters."""
    return [word for found in _WORD.findall(text.lower()) if (word := found.strip(":-▶")) and word]


def golden_mail(name: str, mail: RenderedMail, *, html: bool) -> None:
    """Compare with the golden files, or write them where GOLDEN=write."""
    _compare(f"mail {name}.txt", f"{mail.subject}\n\n{mail.text}")
    if html:
        _compare(f"mail {name}.html", mail.html)


def _compare(name: str, now: str) -> None:
    path = GOLDEN / name.replace(" ", "_")
    if os.environ.get("GOLDEN") == "write":
        path.write_text(now, encoding="utf-8")

    assert path.exists(), f"no golden file {path.name}: run with GOLDEN=write and read it"
    assert path.read_text(encoding="utf-8") == now
