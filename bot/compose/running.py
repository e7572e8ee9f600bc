"""Runs a built service in this process until it is told to stop: the web server in front, the threads behind."""

import errno
import socket

import uvicorn

from bot.compose.service import Service


class PortTaken(Exception):
    """The port cannot be listened on; the text says which and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; raises `PortTaken` with the fix."""
    try:
        return socket.create_server((host, port), backlog=512)
    except OSError as failed:
        if failed.errno in (errno.EADDRINUSE, errno.EACCES):
            raise PortTaken(f"port {port} cannot be used ({failed.strerror}): set PORT to a free one") from failed
        raise


def serve(service: Service, listening: socket.socket) -> None:
    """Start the service and answer requests until SIGINT or SIGTERM; returns when everything has ended cleanly."""
    config = uvicorn.Config(
        service.app,
        log_config=None,
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=10,
        server_header=False,
    )
    server = uvicorn.Server(config)
    service.start()
    try:
        server.run(sockets=[listening])
    finally:
        service.stop()
