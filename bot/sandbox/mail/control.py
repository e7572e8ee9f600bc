"""The mail system as the page's mail client speaks to it: what lies in the mailboxes, and sending an answer. It keeps nothing."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.sandbox.mail.boxes import Letter
from bot.sandbox.mail.office import NotSent, PostOffice
from bot.sandbox.mail.reading import offered_lines, opened
from bot.sandbox.slack.posted import posted
from bot.sandbox.slack.rules import boolean, integer, record, string
from bot.sandbox.slack.wire import Json, Refusal

MOST_SHOWN = 400
LONGEST_ANSWER = 100_000
HARMLESS = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
IN_A_NEW_TAB = '<base target="_blank">'
HEAD = re.compile(r"<head[^>]*>", re.IGNORECASE)
NOT_FOUND = "there is no such mail"

REPLY = record(
    required={"mail": integer(least=1, most=10**9), "text": string(most=LONGEST_ANSWER), "from": string(most=300)},
    optional={"forged": boolean, "quoting": boolean},
)


@dataclass(slots=True)
class MailControl:
    office: PostOffice
    clock: Callable[[], datetime]

    def routes(self) -> list[Route]:
        return [
            Route("/control/mail", self.on_mails, methods=["GET"]),
            Route("/control/mail/reply", posted(self.reply, REPLY), methods=["POST"]),
            Route("/control/mail/{id:int}/html", self.on_html, methods=["GET"]),
            Route("/control/mail/{id:int}/original", self.on_original, methods=["GET"]),
        ]

    def reply(self, wish: Json) -> Json:
        """Answer the mail `mail` as the address `from`; `forged`: without being it."""
        try:
            sent = self.office.reply(
                wish["mail"],
                wish["text"],
                as_address=wish["from"],
                quoting=wish.get("quoting", True),
                forged=wish.get("forged", False),
            )
        except NotSent as refused:
            raise Refusal("not_sent", messages=[str(refused)]) from refused
        return {"ok": True, "mail": sent.id}

    async def on_mails(self, request: Request) -> Response:
        """All mails to draw, or only `changed: false` when nothing came after `since`."""
        number = self.office.boxes.number
        if request.query_params.get("since") == str(number):
            return JSONResponse({"n": number, "changed": False})
        return JSONResponse(await run_in_threadpool(self._drawn))

    async def on_html(self, request: Request) -> Response:
        """The mail's HTML as a client may show it: no script, nothing from elsewhere, links in a tab of their own."""
        letter = self._letter(request)
        html = opened(letter.message).html if letter is not None else None
        if html is None:
            return PlainTextResponse(NOT_FOUND, status_code=404)
        head = HEAD.search(html)
        at = head.end() if head else 0
        return HTMLResponse(f"{html[:at]}{IN_A_NEW_TAB}{html[at:]}", headers={"content-security-policy": HARMLESS})

    async def on_original(self, request: Request) -> Response:
        letter = self._letter(request)
        if letter is None:
            return PlainTextResponse(NOT_FOUND, status_code=404)
        return PlainTextResponse(letter.message, headers={"x-content-type-options": "nosniff"})

    def _letter(self, request: Request) -> Letter | None:
        return self.office.boxes.letter(request.path_params["id"])

    def _drawn(self) -> Json:
        letters = self.office.boxes.letters()
        now = self.clock()
        return {"n": len(letters), "changed": True, "mails": [_shown(each, now) for each in letters[-MOST_SHOWN:]]}


def _shown(letter: Letter, now: datetime) -> Json:
    mail = opened(letter.message)
    return {
        "id": letter.id,
        "box": letter.box,
        "at": letter.at.isoformat(),
        "answers": letter.answers,
        "proven": letter.proven,
        "author": mail.author,
        "address": mail.address,
        "to": mail.to,
        "subject": mail.subject,
        "conversation": mail.conversation,
        "text": mail.text,
        "html": mail.html is not None,
        "offers": [] if letter.answers is not None else list(offered_lines(mail.text, now=now)),
    }
