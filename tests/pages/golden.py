"""Compares a page with the file that was read by a person; `UPDATE_GOLDEN=1` writes it anew. It judges nothing itself."""

import os
import re
from pathlib import Path

GOLDEN = Path(__file__).with_name("golden")
_STYLE = re.compile(r"\?v=[0-9a-f]{12}")


def check(name: str, html: str) -> None:
    """The page is what it was when somebody read it; the hash of the style sheet does not count."""
    shown = _STYLE.sub("?v=style", html)
    path = GOLDEN / f"{name}.html"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == shown
