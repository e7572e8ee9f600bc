"""Signs requests as Standard Webhooks says, so that the receiver knows who asks and whether it was asked before.

It must not send anything, and no text made here shows a secret.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from urllib.parse import quote

ENCODED = "whsec_"


class BadSecret(ValueError):
    """A secret that begins as an encoded one and is none, or that is empty."""


def signing_key(secret: str) -> bytes:
    """The key that `secret` stands for: `whsec_` and base64, or plain text. Raises `BadSecret`."""
    if not secret.startswith(ENCODED):
        key = secret.encode("utf-8", "surrogatepass")
    else:
        encoded = secret.removeprefix(ENCODED).rstrip("=")
        try:
            key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadSecret(f"the secret begins with {ENCODED}, but what follows is not base64") from error
    if not key:
        raise BadSecret("the secret is empty")
    return key


def signature(key: bytes, *, id: str, timestamp: int, body: bytes) -> str:
    """What `webhook-signature` says of this body."""
    signed = hmac.digest(key, f"{id}.{timestamp}.".encode("ascii") + body, "sha256")
    return f"v1,{base64.b64encode(signed).decode('ascii')}"


def webhook_id(key: str) -> str:
    """The request's key as a header can carry it: itself, or percent-encoded where it has other signs than visible ASCII.

    Two keys never have the same id.
    """
    if all("!" <= sign <= "~" and sign != "%" for sign in key):
        return key
    return quote(key, safe="!#$&'()*+,/:;=?@[]^`{|}\"<>\\", errors="surrogatepass")


def signed_headers(key: bytes, *, id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """The three headers of a signed request."""
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(key, id=id, timestamp=timestamp, body=body),
    }
