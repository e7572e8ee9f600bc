"""The door for browsers: who asks is told by a link's name or a trusted proxy's header; every answer is a page, no script."""

from handlers.pages.app import lost_page, pages_doors
from handlers.pages.desk import PagesDesk

__all__ = ["PagesDesk", "lost_page", "pages_doors"]
