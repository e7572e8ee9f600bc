"""Reads a page as a browser and a screen reader would, as far as tests ask. It repairs nothing: a broken page is an error."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}
SELF_CLOSED = {"rect", "line"}
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "body",
        "a",
        "header",
        "nav",
        "span",
        "p",
        "main",
        "h1",
        "h2",
        "h3",
        "footer",
    ),
    *(
        "time",
        "dl",
        "div",
        "dt",
        "dd",
        "code",
        "strong",
        "section",
        "form",
        "input",
        "label",
        "button",
        "details",
        "summary",
    ),
    *(
        "pre",
        "mark",
        "ol",
        "ul",
        "li",
        "del",
        "ins",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "br",
        "select",
    ),
    *("option", "datalist", "svg", "g", "rect", "line", "text"),
}
ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "name",
        "content",
        "rel",
        "href",
        "class",
        "id",
        "role",
        "tabindex",
        "datetime",
        "scope",
        "for",
    ),
    *("type", "value", "method", "action", "required", "maxlength", "autocomplete", "placeholder", "selected"),
    *("aria-label", "aria-labelledby", "aria-hidden", "aria-current", "aria-sort", "list"),
    *("viewbox", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "rx", "text-anchor"),
}


@dataclass
class Element:
    """An element and the text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """All elements in order; raises `AssertionError` for what our templates cannot have written."""

    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]

        assert tag in TAGS, tag
        assert set(names) <= ATTRIBUTES, (tag, names)
        assert len(set(names)) == len(names), (tag, names)

        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SELF_CLOSED, tag

        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        opened = self._open.pop().tag if self._open else None

        assert opened == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError("our templates write no comments")

    def all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]

    def only(self, tag: str) -> Element:
        (found,) = self.all(tag)
        return found


def page_of(html: str) -> Page:
    """The page, well formed: every element that was opened is closed, in order."""
    page = Page()
    page.feed(html)
    page.close()

    assert not page._open

    return page


def words_of(html: str) -> str:
    """What the page says, on one line."""
    return " ".join(page_of(html).only("main").text.split())


def form_of(html: str, action: str) -> dict[str, str]:
    """The fields with which the form of that action begins."""
    page, found, inside = page_of(html), {}, False
    for element in page.elements:
        if element.tag == "form":
            inside = element.attributes["action"] == action
        elif inside and element.tag == "input" and element.attributes["type"] != "checkbox":
            found[element.attributes["name"]] = element.attributes["value"]

    assert found or any(each.attributes["action"] == action for each in page.all("form")), f"no form for {action}"

    return found
