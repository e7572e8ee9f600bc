"""What holds for any bytes in the mailbox: they are done with, nothing of ours stumbles, and only a whole reply acts."""

import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.mail.corpus_cases import load_cases, message
from tests.replies.post import Post
from tests.world.people import LOST_COLUMN
from tests.world.world import World

SMALL = [case.id for case in load_cases() if not case.label.get("generate")]
HEADERS = ["From", "To", "Message-ID", "References", "In-Reply-To", "Authentication-Results", "Content-Type", "Sender"]
relaxed = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def failed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    caplog.set_level(logging.ERROR)


def stumbles(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("bot.replies")]


@relaxed
@given(raw=st.binary(max_size=2_000))
def test_no_bytes_raise_or_act(world: World, post: Post, caplog: pytest.LogCaptureFixture, raw: bytes) -> None:
    version = world.incident("orders").version

    assert post.takes(raw) == []

    assert world.incident("orders").version == version
    assert stumbles(caplog) == []


@relaxed
@given(name=st.sampled_from(SMALL), at=st.integers(0, 5_000), gone=st.integers(0, 300), put=st.binary(max_size=20))
def test_damaged_mail_never_makes_us_stumble(
    world: World, post: Post, caplog: pytest.LogCaptureFixture, name: str, at: int, gone: int, put: bytes
) -> None:
    raw = message(name)

    post.takes(raw[:at] + put + raw[at + gone :])

    assert stumbles(caplog) == []


@relaxed
@given(
    header=st.sampled_from(HEADERS),
    value=st.one_of(st.text(max_size=60), st.binary(max_size=60)),
    line=st.one_of(st.text(max_size=80), st.sampled_from(["approve now", "ack?", "fixed", "retire", "yes"])),
)
def test_a_reply_with_any_header_and_any_line_is_done_with(
    world: World, post: Post, caplog: pytest.LogCaptureFixture, header: str, value: str | bytes, line: str
) -> None:
    row = post.asks("orders", "ana")
    raw = post.reply(row, line)
    told = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value

    post.takes(f"{header}: ".encode() + told + b"\r\n" + raw)
    post.takes(raw.replace(b"Message-ID: ", b"Message-ID: " + told))

    assert stumbles(caplog) == []
