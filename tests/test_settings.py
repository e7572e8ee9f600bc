"""The environment: defaults, every error at once, what is switched off, and no secret in any text."""

from pathlib import Path

import pytest

from bot.settings import Settings, SettingsError

SECRETS = {
    "DATABASE_URL": "postgresql://ontrack:pw-of-database@db.example.com/ontrack",
    "SECRET_KEY": "key-" * 10,
    "SLACK_BOT_TOKEN": "xoxb-bot-token",
    "SLACK_SIGNING_SECRET": "signing-secret",
    "SLACK_APP_TOKEN": "xapp-app-token",
    "SOURCE_TOKENS": "airflow:token-of-airflow-one,airflow:token-of-airflow-two, cron:token:with:colons",
    "SMTP_URL": "smtp://mail:pw-of-smtp@mail.example.com:587",
    "IMAP_URL": "imaps://mail:pw-of-imap@mail.example.com",
    "HEARTBEAT_URL": "https://hc.example.com/secret-path",
}
FULL = {
    **SECRETS,
    "MAIL_FROM": "ontrack <ontrack@example.com>",
    "PUBLIC_URL": "https://ontrack.example.com/",
    "PAGES_USER_HEADER": "X-Forwarded-Email",
    "PAGES_PROXIES": "10.0.0.7, 10.1.0.0/24",
}


def refused(env: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as failed:
        Settings.from_env(env)
    return failed.value.problems


def test_nothing_set_is_enough_to_run() -> None:
    settings = Settings.from_env({"PATH": "/usr/bin"})

    assert settings.database_url == "sqlite:///ontrack.db"
    assert (settings.policies, settings.state_dir) == (Path("policies.yaml"), Path(".ontrack"))
    assert (settings.port, settings.log_format) == (8000, "console")
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.warnings == ()
    assert settings.off == (
        ("Slack", "SLACK_BOT_TOKEN is not set"),
        ("events over HTTP", "SOURCE_TOKENS is not set"),
        ("e-mail", "SMTP_URL is not set"),
        ("e-mail replies", "IMAP_URL is not set"),
        ("a login for web pages", "PAGES_USER_HEADER is not set"),
        ("links to web pages", "PUBLIC_URL is not set"),
        ("signed links", "SECRET_KEY is not set"),
        ("heartbeat", "HEARTBEAT_URL is not set"),
    )


def test_everything_set_switches_nothing_off() -> None:
    settings = Settings.from_env(FULL)

    assert settings.off == ()
    assert settings.warnings == ()
    assert settings.public_url == "https://ontrack.example.com"


def test_a_blank_value_counts_as_not_set() -> None:
    assert Settings.from_env({"SLACK_BOT_TOKEN": "  ", "PORT": ""}) == Settings.from_env({})


def test_every_bad_name_is_told_at_once_with_its_fix() -> None:
    told = refused(
        {
            "DATABASE_URL": "mysql://root:hunter2@db/x",
            "PORT": "80800",
            "PUBLIC_URL": "ontrack.example.com",
            "SECRET_KEY": "hunter2",
            "SLACK_BOT_TOKEN": "hunter2",
            "SLACK_API_URL": "slack",
            "SOURCE_TOKENS": "airflow=hunter2",
            "SMTP_URL": "mail://hunter2",
            "IMAP_URL": "imap://u:p@[",
            "HEARTBEAT_URL": "hunter2",
            "LOG_FORMAT": "xml",
        }
    )

    assert told == (
        "DATABASE_URL: write sqlite:///file or postgresql://user:password@host/database",
        "PORT: write a port number from 0 (any free one) to 65535",
        "PUBLIC_URL: write a URL that begins with https:// or http://",
        "SECRET_KEY: too short; set 32 random characters or more",
        "SLACK_BOT_TOKEN: this token begins with xoxb- and holds no blanks",
        "SLACK_API_URL: write a URL that begins with https:// or http://",
        "SOURCE_TOKENS: entry 1 is not scheduler:token; entries are separated by commas",
        "SMTP_URL: write smtp://user:password@host:port, or smtps:// for TLS from the start",
        "IMAP_URL: this is not a URL; a password with special characters is percent-encoded",
        "HEARTBEAT_URL: write a URL that begins with https:// or http://",
        "LOG_FORMAT: write console or json",
        (
            "SLACK_SIGNING_SECRET: missing beside SLACK_BOT_TOKEN; copy it from the app's Basic Information page"
            " (or set SLACK_APP_TOKEN for Socket Mode)"
        ),
        "MAIL_FROM: missing beside SMTP_URL; set the address that mail is sent from",
    )


@pytest.mark.parametrize(
    ("env", "missing"),
    [
        ({"SLACK_SIGNING_SECRET": "s"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_SIGNING_SECRET"),
        ({"SMTP_URL": "smtp://mail.example.com", "SECRET_KEY": "k" * 32}, "MAIL_FROM"),
        ({"IMAP_URL": "imap://mail.example.com", "SECRET_KEY": "k" * 32}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://mail.example.com", "MAIL_FROM": "ontrack@example.com"}, "SECRET_KEY"),
        ({"PAGES_USER_HEADER": "X-Forwarded-Email", "SECRET_KEY": "k" * 32}, "PAGES_PROXIES"),
    ],
)
def test_a_part_that_is_set_up_by_half_is_an_error(env: dict[str, str], missing: str) -> None:
    (problem,) = refused(env)

    assert problem.startswith(f"{missing}: missing beside")


def test_socket_mode_needs_no_signing_secret() -> None:
    assert Settings.from_env({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}).slack_signing_secret is None


def test_two_signing_secrets_hold_while_one_is_being_rotated() -> None:
    settings = Settings.from_env({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "new-one, old-one"})

    assert settings.slack_signing_secrets == ("new-one", "old-one")
    assert settings.slack_signing_secret == "new-one"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a b", "must hold no blanks"),
        ("a,b c", "secret 2 must hold no blanks"),
        ("a,", "secret 2 is empty; write one, or two separated by a comma while the app's is being rotated"),
        ("a,a", "secret 2 repeats the first; while it is being rotated write the new one and the old one"),
        ("a,b,c", "3 secrets; two at most, for rotation: the new one and the one that it replaces"),
    ],
)
def test_no_signing_secrets(given: str, told: str) -> None:
    assert refused({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": given}) == (f"SLACK_SIGNING_SECRET: {told}",)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("sqlite:////var/lib/ontrack.db", "sqlite:////var/lib/ontrack.db"),
        ("postgresql://u:p@h/d?sslmode=require", "postgresql://u:p@h/d?sslmode=require"),
        ("postgres://u:p@h:5432/d", "postgresql://u:p@h:5432/d"),
    ],
)
def test_databases(given: str, read: str) -> None:
    assert Settings.from_env({"DATABASE_URL": given}).database_url == read


@pytest.mark.parametrize(
    "given",
    ["sqlite://", "sqlite:///:memory:", "postgresql://h", "postgresql+psycopg://h/d", "ontrack.db", "sqlite://x/y"],
)
def test_no_databases(given: str) -> None:
    assert len(refused({"DATABASE_URL": given})) == 1


def test_a_source_token_names_its_scheduler() -> None:
    settings = Settings.from_env(FULL)

    assert settings.source_of("token-of-airflow-one") == "airflow"
    assert settings.source_of("token-of-airflow-two") == "airflow"
    assert settings.source_of("token:with:colons") == "cron"


@pytest.mark.parametrize("token", ["", "airflow", "token-of-airflow", "token-of-airflow-one ", "\udcff", "é"])
def test_any_other_token_names_nothing(token: str) -> None:
    assert Settings.from_env(FULL).source_of(token) is None
    assert Settings.from_env({}).source_of(token) is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a:x,", "entry 2 is not scheduler:token; entries are separated by commas"),
        (":x", "entry 1 is not scheduler:token; entries are separated by commas"),
        ("a:x,b:x", "entry 2 repeats a token; each stands for one scheduler, once"),
        ("a:x,a:y,a:z", "a has 3 tokens; two at most, for rotation"),
    ],
)
def test_no_source_tokens(given: str, told: str) -> None:
    assert refused({"SOURCE_TOKENS": given}) == (f"SOURCE_TOKENS: {told}",)


def test_misspelt_names_and_short_tokens_are_warned_of() -> None:
    settings = Settings.from_env(
        {
            "SLACK_BOT_TOKENS": "xoxb-1",
            "SOURCE_TOKEN": "a:b",
            "POLICES": "p.yaml",
            "SLACK_WEBHOOK": "x",
            "SOURCE_TOKENS": "a:b",
        }
    )

    assert settings.warnings == (
        "POLICES is not a name that ontrack reads; did you mean POLICIES?",
        "SLACK_BOT_TOKENS is not a name that ontrack reads; did you mean SLACK_BOT_TOKEN?",
        "SOURCE_TOKENS: the token of a is short; 16 random characters or more are safe",
    )


def test_no_text_shows_a_secret() -> None:
    shown = repr(Settings.from_env(FULL))
    hidden = [*SECRETS.values(), "pw-of-database", "pw-of-smtp", "pw-of-imap", "token-of-airflow-one", "secret-path"]

    assert not [secret for secret in hidden if secret in shown]


def test_no_error_shows_a_secret() -> None:
    names = [*SECRETS, "PUBLIC_URL", "PORT", "LOG_FORMAT", "MAIL_FROM", "SLACK_API_URL"]

    assert "hunter2" not in "\n".join(refused(dict.fromkeys(names, "hunter2 hunter2")))
