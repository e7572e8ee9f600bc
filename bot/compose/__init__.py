"""The composition root: settings in, a running service out. It builds and connects; it holds no rule."""

from bot.compose.service import Service, build

__all__ = ["Service", "build"]
