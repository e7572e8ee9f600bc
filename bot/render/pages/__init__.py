"""The web pages as HTML, from values that were read before. Pure; it must not look anything up or know who may see what."""

from bot.render.pages.html import compile_pages
from bot.render.pages.model import (
    ConfirmPage,
    Deciding,
    Frame,
    Happened,
    JobPage,
    NoticePage,
    RecordPage,
    RecordsPage,
    RerunRow,
    Row,
    RunRow,
    Said,
    TeamPage,
    Wanted,
)
from bot.render.pages.pages import (
    CHOICES,
    confirm_html,
    job_html,
    notice_html,
    record_html,
    records_html,
    team_html,
)
from bot.render.pages.style import ICON, STYLE, STYLE_HASH

__all__ = [
    "CHOICES",
    "ICON",
    "STYLE",
    "STYLE_HASH",
    "ConfirmPage",
    "Deciding",
    "Frame",
    "Happened",
    "JobPage",
    "NoticePage",
    "RecordPage",
    "RecordsPage",
    "RerunRow",
    "Row",
    "RunRow",
    "Said",
    "TeamPage",
    "Wanted",
    "compile_pages",
    "confirm_html",
    "job_html",
    "notice_html",
    "record_html",
    "records_html",
    "team_html",
]
