"""The use case behind `import`: what schedulers tell of the time before anybody listened. It speaks to nobody but them."""

from bot.importing.importing import Imported, Importing, Progress

__all__ = ["Imported", "Importing", "Progress"]
