"""Looks over the mail side of an installation: the server that sends, the mailbox that is read. No mail is sent or changed."""

from collections.abc import Iterator
from datetime import timedelta

from bot.adapters.imap import ImapMailbox
from bot.adapters.smtp import SmtpMail
from bot.adapters.smtp_errors import LOST, TOO_LATE, said_of
from bot.adapters.smtp_line import NO_LOGIN, NO_TLS
from bot.adapters.smtp_wire import UNREACHABLE, UNTRUSTED
from bot.compose.finding import Finding, Health
from bot.ports import Clock, MailboxDown, SendFailed
from bot.settings import Settings

SENDING, REPLIES = "e-mail", "e-mail replies"
LOOK_WITHIN = timedelta(seconds=15)
FIXES = {
    UNREACHABLE: "see host and port in SMTP_URL, and that this host may reach them (many networks close port 25: use 587)",
    LOST: "see that the port in SMTP_URL is one for mail: smtps:// begins with TLS (465), smtp:// in the clear (587)",
    TOO_LATE: "see that the port in SMTP_URL is one for mail: smtps:// begins with TLS (465), smtp:// in the clear (587)",
    NO_TLS: "use the server's port with STARTTLS (587), or smtps:// (465): nothing is sent in the clear over a network",
    NO_LOGIN: "take user and password out of SMTP_URL, or use the server's port for clients (587, 465)",
    UNTRUSTED: "use the name that the certificate is made out to, or have SSL_CERT_FILE name your own authority's certificate",
}
LOGIN = "see user and password in SMTP_URL (percent-encoded); some providers want a password made for the app"
OTHERWISE = "look the words up in the server's documentation; try again"


def examine_mail(settings: Settings, *, clock: Clock) -> Iterator[Finding]:
    """Each part that is set up; what is not is said elsewhere."""
    if settings.smtp_url is not None and settings.mail_from is not None:
        yield _server(settings.smtp_url, settings.mail_from, clock)
    if settings.smtp_url is not None and settings.public_url is None:
        fix = "set PUBLIC_URL to the address at which people reach ontrack"
        yield Finding(part=SENDING, health=Health.WARN, says="mails have no links: PUBLIC_URL is not set", fix=fix)
    if settings.imap_url is not None:
        yield _mailbox(settings.imap_url, clock)
        if settings.mail_authserv_id is None:
            says = "nobody's answer is believed: it is not known by which name your server signs its word on senders"
            fix = "set MAIL_AUTHSERV_ID to what follows `Authentication-Results:` in a mail that it received"
            yield Finding(part=REPLIES, health=Health.WARN, says=says, fix=fix)


def _server(url: str, sender: str, clock: Clock) -> Finding:
    mail = SmtpMail(url=url, sender=sender, clock=clock, send_within=LOOK_WITHIN)
    try:
        protocol = mail.check()
    except SendFailed as failed:
        return Finding(part=SENDING, health=Health.BROKEN, says=trouble(mail, failed), fix=_fix(mail, failed))
    finally:
        mail.close()
    how = [protocol or "in the clear on this machine", *([f"logged in as {mail.user}"] if mail.user else [])]
    return Finding(part=SENDING, health=Health.OK, says=f"{mail.server}, {', '.join(how)}")


def _mailbox(url: str, clock: Clock) -> Finding:
    mailbox = ImapMailbox(url, clock=clock)
    try:
        mailbox.open()
    except MailboxDown as down:
        return Finding(part=REPLIES, health=Health.BROKEN, says=str(down), fix="correct IMAP_URL")
    finally:
        mailbox.close()
    return Finding(part=REPLIES, health=Health.OK, says=f"{mailbox.name} is read")


def trouble(mail: SmtpMail, failed: SendFailed) -> str:
    """What is wrong with the server, with its own words."""
    words = said_of(failed)
    return f"{mail.server}: {failed.code}{f' ({words})' if words else ''}"


def _fix(mail: SmtpMail, failed: SendFailed) -> str:
    known = FIXES.get(failed.code)
    return known or (LOGIN if mail.user and said_of(failed).startswith("5") else OTHERWISE)
