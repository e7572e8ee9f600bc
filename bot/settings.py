"""The environment as one frozen value, every missing or bad name reported at once. It reads no variable by itself.

No text made here shows a secret: not an error, not a warning, not a repr.
"""

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

SLACK_API = "https://slack.com/api/"
SHORTEST_SECRET_KEY = 32
SHORTEST_TOKEN = 16
TOKENS_A_SCHEDULER = 2
SECRETS_FOR_SLACK = 2

NAMES = (
    "DATABASE_URL",
    "POLICIES",
    "PORT",
    "PUBLIC_URL",
    "SECRET_KEY",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_TOKEN",
    "SLACK_API_URL",
    "SOURCE_TOKENS",
    "SMTP_URL",
    "IMAP_URL",
    "MAIL_FROM",
    "MAIL_AUTHSERV_ID",
    "PAGES_USER_HEADER",
    "PAGES_PROXIES",
    "HEARTBEAT_URL",
    "LOG_FORMAT",
    "STATE_DIR",
)
_PREFIXES = tuple(sorted({f"{name.partition('_')[0]}_" for name in NAMES if "_" in name} | {"POLIC"}))
_PARTS = {
    "SLACK_BOT_TOKEN": "Slack",
    "SOURCE_TOKENS": "events over HTTP",
    "SMTP_URL": "e-mail",
    "IMAP_URL": "e-mail replies",
    "PAGES_USER_HEADER": "a login for web pages",
    "PUBLIC_URL": "links to web pages",
    "SECRET_KEY": "signed links",
    "HEARTBEAT_URL": "heartbeat",
}

Value = TypeVar("Value")


class SettingsError(Exception):
    """An environment that ontrack cannot start with: one line for each name, with the fix."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says. `off`: optional parts that are switched off, and why; `warnings`: what looks wrong."""

    database_url: str = field(repr=False)
    policies: Path
    port: int
    public_url: str | None
    secret_key: str | None = field(repr=False)
    slack_bot_token: str | None = field(repr=False)
    slack_signing_secrets: tuple[str, ...] = field(repr=False)
    slack_app_token: str | None = field(repr=False)
    slack_api_url: str
    source_tokens: tuple[tuple[str, str], ...] = field(repr=False)
    smtp_url: str | None = field(repr=False)
    imap_url: str | None = field(repr=False)
    mail_from: str | None
    mail_authserv_id: str | None
    pages_user_header: str | None
    pages_proxies: tuple[IPv4Network | IPv6Network, ...]
    heartbeat_url: str | None = field(repr=False)
    log_format: str
    state_dir: Path
    off: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Settings":
        """Read the names of the environment; raises `SettingsError` with all that is missing or bad."""
        return _Reader(env).settings()

    @property
    def slack_signing_secret(self) -> str | None:
        """The first of the signing secrets: the one that Slack signs with, or soon will."""
        return self.slack_signing_secrets[0] if self.slack_signing_secrets else None

    def source_of(self, token: str) -> str | None:
        """The scheduler that this source token stands for; takes as long for a wrong one as for a right one."""
        given = token.encode("utf-8", "surrogatepass")
        found: str | None = None
        for scheduler, known in self.source_tokens:
            if hmac.compare_digest(known.encode("utf-8", "surrogatepass"), given):
                found = scheduler
        return found


class _Bad(Exception):
    """A value that cannot be used; the text says what is right, and never quotes the value."""


class _Reader:
    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = {name: value.strip() for name, value in env.items() if value.strip()}
        self._problems: list[str] = []
        self._warnings: list[str] = []

    def settings(self) -> Settings:
        made = Settings(
            database_url=self._read("DATABASE_URL", _database_url, "sqlite:///ontrack.db"),
            policies=Path(self._env.get("POLICIES", "policies.yaml")),
            port=self._read("PORT", _port, 8000),
            public_url=self._read("PUBLIC_URL", _web_url, None),
            secret_key=self._read("SECRET_KEY", _secret_key, None),
            slack_bot_token=self._read("SLACK_BOT_TOKEN", _beginning("xoxb-"), None),
            slack_signing_secrets=self._read("SLACK_SIGNING_SECRET", _signing_secrets, ()),
            slack_app_token=self._read("SLACK_APP_TOKEN", _beginning("xapp-"), None),
            slack_api_url=f"{self._read('SLACK_API_URL', _web_url, SLACK_API.rstrip('/'))}/",
            source_tokens=self._read("SOURCE_TOKENS", _source_tokens, ()),
            smtp_url=self._read("SMTP_URL", _mail_url("smtp", "smtps"), None),
            imap_url=self._read("IMAP_URL", _mail_url("imap", "imaps"), None),
            mail_from=self._read("MAIL_FROM", _mail_address, None),
            mail_authserv_id=self._read("MAIL_AUTHSERV_ID", _authserv_id, None),
            pages_user_header=self._read("PAGES_USER_HEADER", _header_name, None),
            pages_proxies=self._read("PAGES_PROXIES", _networks, ()),
            heartbeat_url=self._read("HEARTBEAT_URL", _web_url, None),
            log_format=self._read("LOG_FORMAT", _log_format, "console"),
            state_dir=Path(self._env.get("STATE_DIR", ".ontrack")),
            off=tuple(self._off()),
        )
        self._problems += self._halves()
        if self._problems:
            raise SettingsError(tuple(self._problems))
        return replace(made, warnings=(*self._misspelt(), *_short_tokens(made.source_tokens)))

    def _read(self, name: str, read: Callable[[str], Value], default: Value) -> Value:
        if name not in self._env:
            return default
        try:
            return read(self._env[name])
        except _Bad as bad:
            self._problems.append(f"{name}: {bad}")
            return default

    def _halves(self) -> Iterator[str]:
        """Parts that are set up by half: not switched off, but broken."""
        given = self._env.keys()
        if "SLACK_BOT_TOKEN" in given and not given & {"SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN"}:
            yield (
                "SLACK_SIGNING_SECRET: missing beside SLACK_BOT_TOKEN; copy it from the app's Basic Information page"
                " (or set SLACK_APP_TOKEN for Socket Mode)"
            )
        if "SLACK_BOT_TOKEN" not in given:
            for other in sorted(given & {"SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN"}):
                yield f"SLACK_BOT_TOKEN: missing beside {other}; copy it from the app's OAuth & Permissions page"
        if "SMTP_URL" in given and "MAIL_FROM" not in given:
            yield "MAIL_FROM: missing beside SMTP_URL; set the address that mail is sent from"
        if "IMAP_URL" in given and "SMTP_URL" not in given:
            yield "SMTP_URL: missing beside IMAP_URL; replies answer mail that was sent"
        if "SECRET_KEY" not in given:
            for other in sorted(given & {"SMTP_URL", "IMAP_URL", "PAGES_USER_HEADER"}):
                yield f"SECRET_KEY: missing beside {other}; set {SHORTEST_SECRET_KEY} random characters or more"
        if "PAGES_USER_HEADER" in given and "PAGES_PROXIES" not in given:
            yield "PAGES_PROXIES: missing beside PAGES_USER_HEADER; name the proxies that set it, as in 10.0.0.0/24"

    def _off(self) -> Iterator[tuple[str, str]]:
        for name, part in _PARTS.items():
            if name not in self._env:
                yield part, f"{name} is not set"

    def _misspelt(self) -> Iterator[str]:
        for name in sorted(set(self._env) - set(NAMES)):
            near = get_close_matches(name, NAMES, n=1, cutoff=0.75) if name.startswith(_PREFIXES) else []
            if near and near[0] not in self._env:
                yield f"{name} is not a name that ontrack reads; did you mean {near[0]}?"


def _database_url(value: str) -> str:
    parts = _parts(value)
    if parts.scheme == "sqlite":
        if parts.netloc or parts.path.strip("/") in ("", ":memory:"):
            raise _Bad("name a file, as in sqlite:///ontrack.db")
        return value
    if parts.scheme in ("postgresql", "postgres"):
        if not parts.path.strip("/"):
            raise _Bad("name the database, as in postgresql://user:password@host/database")
        return f"postgresql{value[len(parts.scheme) :]}"
    if parts.scheme.startswith(("postgresql+", "sqlite+")):
        raise _Bad("leave the driver out: sqlite:///file or postgresql://user:password@host/database")
    raise _Bad("write sqlite:///file or postgresql://user:password@host/database")


def _port(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", value) or int(value) > 65535:
        raise _Bad("write a port number from 0 (any free one) to 65535")
    return int(value)


def _web_url(value: str) -> str:
    parts = _parts(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", value):
        raise _Bad("write a URL that begins with https:// or http://")
    return value.rstrip("/")


def _mail_url(*schemes: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        parts = _parts(value)
        if parts.scheme not in schemes or not parts.hostname:
            raise _Bad(f"write {schemes[0]}://user:password@host:port, or {schemes[1]}:// for TLS from the start")
        return value

    return read


def _parts(value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        raise _Bad("this is not a URL; a password with special characters is percent-encoded") from None
    return parts


def _authserv_id(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}", value):
        raise _Bad("write the name by which your mail server signs Authentication-Results, as in mx.example.com")
    return value.lower()


def _header_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,60}", value):
        raise _Bad("write the name of a header, as in X-Forwarded-Email")
    return value.lower()


def _networks(value: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(one.strip()) for one in value.split(",") if one.strip())
    except ValueError as failed:
        raise _Bad("write addresses or networks with commas between them, as in 10.0.0.7, 10.1.0.0/24") from failed


def _mail_address(value: str) -> str:
    if not re.fullmatch(r"[^\r\n@]{1,200}@[^\s@]{1,200}", value):
        raise _Bad("write an e-mail address, as in ontrack@example.com or ontrack <ontrack@example.com>")
    return value


def _secret_key(value: str) -> str:
    if len(value) < SHORTEST_SECRET_KEY:
        raise _Bad(f"too short; set {SHORTEST_SECRET_KEY} random characters or more")
    return value


def _beginning(prefix: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not value.startswith(prefix) or re.search(r"\s", value):
            raise _Bad(f"this token begins with {prefix} and holds no blanks")
        return value

    return read


def _signing_secrets(value: str) -> tuple[str, ...]:
    secrets = tuple(each.strip() for each in value.split(","))
    for at, secret in enumerate(secrets, start=1):
        if not secret:
            raise _Bad(f"secret {at} is empty; write one, or two separated by a comma while the app's is being rotated")
        if re.search(r"\s", secret):
            raise _Bad("must hold no blanks" if len(secrets) == 1 else f"secret {at} must hold no blanks")
    if len(secrets) > SECRETS_FOR_SLACK:
        raise _Bad(f"{len(secrets)} secrets; two at most, for rotation: the new one and the one that it replaces")
    if len(set(secrets)) < len(secrets):
        raise _Bad("secret 2 repeats the first; while it is being rotated write the new one and the old one")
    return secrets


def _log_format(value: str) -> str:
    if value not in ("console", "json"):
        raise _Bad("write console or json")
    return value


def _source_tokens(value: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for at, entry in enumerate((each.strip() for each in value.split(",")), start=1):
        scheduler, colon, token = (part.strip() for part in entry.partition(":"))
        if not colon or not scheduler or not token:
            raise _Bad(f"entry {at} is not scheduler:token; entries are separated by commas")
        if token in (known for _, known in pairs):
            raise _Bad(f"entry {at} repeats a token; each stands for one scheduler, once")
        pairs.append((scheduler, token))
    for scheduler, count in Counter(scheduler for scheduler, _ in pairs).items():
        if count > TOKENS_A_SCHEDULER:
            raise _Bad(f"{scheduler} has {count} tokens; two at most, for rotation")
    return tuple(pairs)


def _short_tokens(pairs: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for scheduler in sorted({scheduler for scheduler, token in pairs if len(token) < SHORTEST_TOKEN}):
        yield f"SOURCE_TOKENS: the token of {scheduler} is short; {SHORTEST_TOKEN} random characters or more are safe"
