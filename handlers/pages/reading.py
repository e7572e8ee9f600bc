"""The pages that are only read: a record, the list, a job, a team. It must not change anything, whatever was sent."""

from bot.incidents.keys import JobKey
from bot.incidents.people import Person
from bot.render.pages import Deciding, RecordPage, Said, job_html, record_html, records_html, team_html
from bot.replies.saying import offers
from handlers.pages.answers import page, see_other
from handlers.pages.desk import PagesDesk
from handlers.pages.guard import person_of, reader_of_record
from handlers.pages.requests import nothing_here, occurrence_of, query_of, records_of
from handlers.pages.seals import said_of, seal_of
from handlers.wire import Answer, Call


def on_home(desk: PagesDesk, call: Call) -> Answer:
    """There is no first page but the list."""
    return see_other(desk, "/records")


def on_record(desk: PagesDesk, call: Call) -> Answer:
    """`/i/<record>` shows its newest occurrence, `/i/<record>.<number>` that one."""
    record, number = occurrence_of(call.params["name"])
    query = query_of(call)
    reader = reader_of_record(desk, call, str(record), query.get("k"))
    found = desk.pages.record(record, number if number is not None else desk.pages.newest(record))
    if found is None:
        raise nothing_here()
    person = reader.person
    deciding = _deciding(desk, found, person) if person is not None else None
    said: Said | None = None
    if person is not None:
        said = said_of(desk.signer, query, person=person, occurrence=found.snapshot.incident.id)
    return page(desk, record_html(found, desk.frame(reader=person, key=reader.key), deciding=deciding, said=said))


def on_records(desk: PagesDesk, call: Call) -> Answer:
    person = person_of(desk, call)
    asked = records_of(query_of(call), desk.pages.teams())
    return page(desk, records_html(desk.pages.records(asked), desk.frame(reader=person)))


def on_job(desk: PagesDesk, call: Call) -> Answer:
    person = person_of(desk, call)
    found = desk.pages.job(JobKey(scheduler=call.params["scheduler"], name=call.params["job"]))
    if found is None:
        raise nothing_here()
    return page(desk, job_html(found, desk.frame(reader=person)))


def on_team(desk: PagesDesk, call: Call) -> Answer:
    person = person_of(desk, call)
    found = desk.pages.team(call.params["team"])
    if found is None:
        raise nothing_here()
    return page(desk, team_html(found, desk.frame(reader=person)))


def _deciding(desk: PagesDesk, found: RecordPage, person: Person) -> Deciding:
    """What this person is offered, by the same rules as a mail; the core judges whatever they say."""
    snapshot = found.snapshot
    incident, nonce = snapshot.incident, desk.nonce()
    proposal = incident.proposal.number if incident.proposal is not None else None
    return Deciding(
        zone=snapshot.team_zone,
        words=offers(snapshot, proposal=proposal),
        version=incident.version,
        proposal=proposal,
        seal=seal_of(
            desk.signer,
            person=person,
            occurrence=incident.id,
            version=incident.version,
            proposal=proposal,
            nonce=nonce,
        ),
        nonce=nonce,
    )
