"""The composition root: settings in, a running service out. It builds and connects; it holds no rule."""

from bot.compose.service import Service
from bot.compose.wiring import build

__all__ = ["Service", "build"]
