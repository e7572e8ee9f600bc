"""The edge: caps in size, number and time, packed bodies, and the right word for every wrong request."""

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from handlers.events import events_door
from handlers.http import Limits
from handlers.meters import Meters
from handlers.tokens import SourceTokens
from handlers.wire import Answer, Call, Door
from tests.handlers.conftest import TOKENS, Serve
from tests.handlers.doubles import Recorder
from tests.handlers.events import failed
from tests.handlers.server import Served

HEADERS = {"Authorization": "Bearer token-of-airflow-1", "Content-Type": "application/json"}
CAP = 16 * 1024 * 1024


def report(events: Served, content: bytes | Iterator[bytes], **headers: str) -> httpx.Response:
    return events.client.post("/api/v1/events", content=content, headers=HEADERS | headers)


def body() -> bytes:
    return json.dumps(failed()).encode()


def said_by(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    said = b""
    while chunk := connection.recv(65536):
        said += chunk
    return said


def test_a_log_of_a_megabyte_is_fine(events: Served, intake: Recorder) -> None:
    event = failed()
    event["data"]["error"]["log"] = "x" * 1_000_000

    assert report(events, json.dumps(event).encode()).status_code == 200
    assert len(intake.taken) == 1


@pytest.mark.parametrize("token", ["Bearer token-of-airflow-1", "Bearer wrong"])
def test_a_declared_length_over_the_cap_is_refused_before_the_body_comes(events: Served, token: str) -> None:
    with socket.create_connection(("127.0.0.1", events.port), timeout=10) as connection:
        connection.sendall(
            f"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: {CAP + 1}\r\n\r\n".encode()
        )
        said = said_by(connection)

    assert said.startswith(b"HTTP/1.1 413")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["field"] == "body"


def test_a_body_that_grows_over_the_cap_is_refused_while_it_comes(events: Served, intake: Recorder) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(64):
            sent += 1
            yield b" " * (1024 * 1024)

    response = report(events, chunks())

    assert response.status_code == 413
    assert sent < 64
    assert intake.taken == []


@pytest.mark.parametrize("size", [CAP, CAP - 1])
def test_a_body_up_to_the_cap_is_read(events: Served, size: int) -> None:
    content = body()

    assert report(events, content + b" " * (size - len(content))).status_code == 200


@pytest.mark.parametrize("name", ["gzip", "GZIP", "x-gzip"])
def test_a_packed_body_is_unpacked(events: Served, name: str) -> None:
    assert report(events, gzip.compress(body()), **{"Content-Encoding": name}).status_code == 200


def test_a_packed_body_in_two_members_is_one_body(events: Served) -> None:
    content = body()
    packed = gzip.compress(content[:50]) + gzip.compress(content[50:])

    assert report(events, packed, **{"Content-Encoding": "gzip"}).status_code == 200


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(body())[:-9],
        gzip.compress(body())[:12],
        b"not gzip",
        gzip.compress(body()) + b"garbage",
        zlib.compress(body()),
        b"\x1f\x8b",
    ],
    ids=["cut short", "cut very short", "no gzip", "garbage behind", "zlib", "head only"],
)
def test_a_broken_packed_body_is_told(events: Served, intake: Recorder, packed: bytes) -> None:
    response = report(events, packed, **{"Content-Encoding": "gzip"})

    assert response.status_code == 400
    assert "gzip" in response.json()["error"]["message"]
    assert intake.taken == []


@pytest.mark.parametrize("members", [1, 40])
def test_a_bomb_does_not_unfold(events: Served, members: int) -> None:
    packed = gzip.compress(b" " * (64 * 1024 * 1024 // members)) * members

    response = report(events, packed, **{"Content-Encoding": "gzip"})

    assert len(packed) < 100_000
    assert response.status_code == 413


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd"])
def test_another_packing_is_not_taken(events: Served, encoding: str) -> None:
    response = report(events, body(), **{"Content-Encoding": encoding})

    assert response.status_code == 415
    assert response.json()["error"]["field"] == "Content-Encoding"


def test_a_door_that_takes_no_packed_bodies_says_so(serve: Serve) -> None:
    plain = serve(Door(name="plain", path="/api/v1/events", cap=100, admit=lambda _: None, handle=lambda _: Answer()))

    assert report(plain, gzip.compress(b"x"), **{"Content-Encoding": "gzip"}).status_code == 415


@pytest.mark.parametrize(
    ("method", "path", "status", "field"),
    [
        ("GET", "/api/v1/events", 405, "method"),
        ("PUT", "/api/v1/events", 405, "method"),
        ("POST", "/healthz", 405, "method"),
        ("POST", "/api/v1/nothing", 404, "path"),
        ("GET", "/", 404, "path"),
    ],
)
def test_a_wrong_address_or_method_is_told(events: Served, method: str, path: str, status: int, field: str) -> None:
    response = events.client.request(method, path)

    assert response.status_code == status
    assert response.json()["error"]["field"] == field


def test_a_body_that_does_not_come_is_not_waited_for(serve: Serve, intake: Recorder, meters: Meters) -> None:
    door = events_door(tokens=SourceTokens(TOKENS), take_in=intake.take_in, meters=meters)
    events = serve(door, limits=Limits(body_within=timedelta(seconds=0.2)))
    with socket.create_connection(("127.0.0.1", events.port), timeout=10) as connection:
        connection.sendall(b"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        said = said_by(connection)

    assert said.startswith(b"HTTP/1.1 408")
    assert report(events, body()).status_code == 200


def test_a_client_that_goes_away_harms_nobody(events: Served, intake: Recorder) -> None:
    with socket.create_connection(("127.0.0.1", events.port), timeout=10) as connection:
        connection.sendall(b"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")

    assert report(events, body()).status_code == 200
    assert len(intake.taken) == 1


def waiting_door(arrived: threading.Semaphore, go_on: threading.Event) -> Door:
    def handle(_: Call) -> Answer:
        arrived.release()
        go_on.wait(10)
        return Answer()

    return Door(name="waiting", path="/wait", cap=1000, admit=lambda _: None, handle=handle)


def test_over_the_cap_in_flight_a_request_is_sent_away_and_the_others_are_served(serve: Serve) -> None:
    arrived, go_on = threading.Semaphore(0), threading.Event()
    web = serve(waiting_door(arrived, go_on), limits=Limits(requests=2))
    served: list[int] = []

    def wait() -> None:
        served.append(httpx.post(f"http://127.0.0.1:{web.port}/wait", trust_env=False).status_code)

    waiting = [threading.Thread(target=wait) for _ in range(2)]
    for thread in waiting:
        thread.start()
    for _ in waiting:
        assert arrived.acquire(timeout=10)
    over = web.client.post("/wait")
    alive = web.client.get("/healthz")
    go_on.set()
    for thread in waiting:
        thread.join(10)

    assert over.status_code == 503
    assert over.headers["retry-after"] == "1"
    assert alive.status_code == 200
    assert served == [200, 200]
    assert web.client.post("/wait").status_code == 200


def test_the_bytes_in_flight_are_bounded_over_all_requests(serve: Serve) -> None:
    arrived, go_on = threading.Semaphore(0), threading.Event()
    web = serve(waiting_door(arrived, go_on), limits=Limits(body_bytes=1000))
    first: list[int] = []

    def send() -> None:
        first.append(httpx.post(f"http://127.0.0.1:{web.port}/wait", content=b"x" * 600, trust_env=False).status_code)

    thread = threading.Thread(target=send)
    thread.start()
    assert arrived.acquire(timeout=10)
    over = web.client.post("/wait", content=b"x" * 600)
    small = threading.Thread(target=lambda: web.client.post("/wait", content=b"x" * 100))
    small.start()
    fits = arrived.acquire(timeout=10)
    go_on.set()
    thread.join(10)
    small.join(10)

    assert over.status_code == 503
    assert fits
    assert first == [200]


def test_one_connection_serves_many_requests(events: Served) -> None:
    with socket.create_connection(("127.0.0.1", events.port), timeout=10) as connection:
        for _ in range(3):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
