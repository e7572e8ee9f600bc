"""Sets up logging once for the process: constant messages with fields, as console lines or as JSON. Nothing else."""

import logging
import sys

import structlog
from structlog.typing import Processor

QUIET = ("httpx", "httpcore", "apscheduler", "uvicorn.access", "handlers.slack.bolt", "slack_bolt", "alembic")


def set_up_logs(style: str, *, level: int = logging.INFO) -> None:
    """Write all records to standard error, as `console` or `json` lines; chatty libraries only from WARNING."""
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
