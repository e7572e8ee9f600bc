"""The signature of Standard Webhooks, against what is published of it and against another computation."""

import base64
import hashlib
import hmac

import pytest

from bot.schedulers.webhook_signing import BadSecret, signature, signing_key, webhook_id

PUBLISHED_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_it_is_what_the_specification_publishes() -> None:
    made = signature(
        signing_key(PUBLISHED_SECRET),
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )

    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", ["plain words", "grün", "x" * 300])
def test_a_plain_secret_is_the_key_itself(secret: str) -> None:
    made = signature(signing_key(secret), id="shop/orders:1", timestamp=7, body="{ü}".encode())
    expected = hmac.new(secret.encode(), b"shop/orders:1.7." + "{ü}".encode(), hashlib.sha256).digest()

    assert made == f"v1,{base64.b64encode(expected).decode()}"


def test_an_encoded_secret_may_lack_its_padding() -> None:
    assert signing_key("whsec_YWJjZA==") == signing_key("whsec_YWJjZA") == b"abcd"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!", "whsec_YWJjZ", "whsec_grün"])
def test_a_secret_that_is_none_is_told_without_showing_it(secret: str) -> None:
    with pytest.raises(BadSecret) as raised:
        signing_key(secret)

    assert secret.removeprefix("whsec_") == "" or secret.removeprefix("whsec_") not in str(raised.value)


def test_a_key_of_visible_ascii_is_its_own_id() -> None:
    key = "airflow-prod/finance.daily_revenue@20261130T031200000000Z:rerun:4"

    assert webhook_id(key) == key


@pytest.mark.parametrize(
    "key", ["shop/größe:1", "shop/two words:1", "shop/50%:1", "shop/\x00:1", "shop/\ud800:1", " x "]
)
def test_any_other_key_is_encoded_so_that_a_header_can_carry_it(key: str) -> None:
    id = webhook_id(key)

    assert all("!" <= sign <= "~" for sign in id)
    assert id != key


def test_two_keys_never_have_one_id() -> None:
    keys = ["é", "%C3%A9", "%25C3%25A9", "a b", "a%20b", "a+b"]

    assert len({webhook_id(key) for key in keys}) == len(keys)
