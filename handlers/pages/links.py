"""Links of mails that act: looking shows what one would do, and only its button does it. Whoever holds the link may use it.

A GET, a HEAD or a scanner that opens every link changes nothing.
"""

from datetime import timedelta

from bot.incidents.effects import ToldKind
from bot.render.pages import ConfirmPage, NoticePage, confirm_html
from bot.render.private import told_line
from bot.render.segments import literal
from bot.render.snapshot import Snapshot
from bot.replies.links import LinkDone, LinkRefused, LinkTrouble, LinkView
from handlers.pages.answers import notice, page
from handlers.pages.desk import PagesDesk
from handlers.pages.guard import HOW_TO_GET_IN, check_origin, count_guess, count_post
from handlers.pages.requests import form_of, nothing_here, query_of
from handlers.wire import Answer, Call

MOST_NAME = 64
READS = timedelta(days=30)
MOST_WORDS = 1000
_STATUSES = {LinkTrouble.UNKNOWN: 404, LinkTrouble.EXPIRED: 410}


def on_link(desk: PagesDesk, call: Call) -> Answer:
    """`/d/<name>/<word>`: GET shows the confirmation, POST acts."""
    if desk.links is None:
        raise nothing_here()
    name, word = call.params["name"][:MOST_NAME], call.params["word"][:MOST_NAME]
    sure = query_of(call).get("sure") == "1"
    if call.method != "POST":
        found = desk.links.look(name, word, sure=sure, now=desk.clock())
        return _refused(desk, call, found) if isinstance(found, LinkRefused) else _looked(desk, name, found)
    check_origin(desk, call)
    fields = form_of(call)
    count_post(desk, call, name)
    argument, until = fields.get("argument", "")[:MOST_WORDS], fields.get("until", "")[:20]
    done = desk.links.act(name, word, argument=argument, until=until, sure=sure, now=desk.clock())
    if isinstance(done, LinkRefused):
        return _refused(desk, call, done)
    if done.told.kind is ToldKind.INVALID:
        looked = desk.links.look(name, word, sure=sure, now=desk.clock())
        if isinstance(looked, LinkView) and looked.done is None:
            wrong = literal(told_line(done.told, done.snapshot))
            return _confirming(desk, name, looked, argument=argument, until=until, wrong=wrong, status=422)
    return _done(desk, done)


def _looked(desk: PagesDesk, name: str, found: LinkView) -> Answer:
    if found.done is not None:
        said = literal(told_line(found.done, found.snapshot))
        title = f"This link was used already: {found.snapshot.incident.job.name}"
        links = _record_links(desk, found.snapshot)
        return notice(desk, NoticePage(title=title, lines=(f"It told: {said}", _ONCE), links=links))
    return _confirming(desk, name, found, argument=found.argument, until=found.until)


def _confirming(
    desk: PagesDesk, name: str, found: LinkView, *, argument: str, until: str, wrong: str = "", status: int = 200
) -> Answer:
    confirming = ConfirmPage(
        word=found.word,
        snapshot=found.snapshot,
        who=str(found.person),
        name=name,
        zone=found.zone,
        sure=found.sure,
        wants_words=found.wants_words,
        wants_day=found.wants_day,
        argument=argument,
        until=until,
        wrong=wrong,
        works=found.works,
    )
    return page(desk, confirm_html(confirming, desk.frame()), status=status)


def _done(desk: PagesDesk, done: LinkDone) -> Answer:
    said = literal(told_line(done.told, done.snapshot))
    worked = done.told.kind is ToldKind.DONE
    lines = (said, _ONCE) if done.again else (said,)
    links = _record_links(desk, done.snapshot)
    if done.sure is not None:
        links = ((f"/d/{done.sure}/{done.word}?sure=1", "Look at it and confirm"), *links)
    title = "This link was used already" if done.again else "Done" if worked else "Not done"
    return notice(desk, NoticePage(title=f"{title}: {done.snapshot.incident.job.name}", lines=lines, links=links))


def _refused(desk: PagesDesk, call: Call, refused: LinkRefused) -> Answer:
    if refused.trouble is LinkTrouble.UNKNOWN:
        count_guess(desk, call)
    fix = f"Nothing was done. To decide, {HOW_TO_GET_IN}."
    said = NoticePage(
        title="This link does not work",
        lines=(_sentence(refused.says), fix),
        links=_record_links(desk, refused.snapshot),
    )
    return notice(desk, said, status=_STATUSES[refused.trouble])


_ONCE = "A link works once. Nothing more was done now."


def _record_links(desk: PagesDesk, snapshot: Snapshot | None) -> tuple[tuple[str, str], ...]:
    """The record, read by a name of its own: who holds a link that acts on it may read it."""
    if snapshot is None:
        return ()
    incident = snapshot.incident
    key = desk.signer.page(f"/i/{incident.record}", now=desk.clock(), lasts=READS)
    return ((f"/i/{incident.id}?k={key}", "Open the record"),)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}".rstrip(".") + "."
