"""The style sheet and the icon of the pages, and the hash by which a browser tells new ones. Read once, at the import."""

from hashlib import sha256
from importlib.resources import files

_HERE = files("bot.render") / "pages"
STYLE: bytes = (_HERE / "ontrack.css").read_bytes()
ICON: bytes = (_HERE / "ontrack.svg").read_bytes()
STYLE_HASH: str = sha256(STYLE + ICON).hexdigest()[:12]
