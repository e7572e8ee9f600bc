"""Answers about job health in every form: a message, plain text, a web page, a picture, CSV. It must not count or look up."""

from bot.render.health.blocks import baseline_message, health_message, help_message
from bot.render.health.cells import csv_text
from bot.render.health.model import BaselineShown, HealthAnswer, HealthHelp, OpenOne
from bot.render.health.page import HealthPage, health_html
from bot.render.health.picture import PictureData, picture_of

__all__ = [
    "BaselineShown",
    "HealthAnswer",
    "HealthHelp",
    "HealthPage",
    "OpenOne",
    "PictureData",
    "baseline_message",
    "csv_text",
    "health_html",
    "health_message",
    "help_message",
    "picture_of",
]
