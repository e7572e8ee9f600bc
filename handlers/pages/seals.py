"""What our forms and redirects carry so that nobody else can have made them. It must not decide anything.

A form's seal binds it to whom it was shown, the occurrence, how that stood, and a nonce of its own, by which it counts once.
"""

from collections.abc import Mapping

from bot.incidents.people import Person
from bot.render.pages import Said
from bot.render.text import one_line
from bot.signed import Signer

MOST_SAID = 600


def seal_of(signer: Signer, *, person: Person, occurrence: str, version: int, proposal: int | None, nonce: str) -> str:
    return signer.form(_purpose(person, occurrence, version, proposal, nonce))


def is_sealed(
    signer: Signer, seal: str, *, person: Person, occurrence: str, version: int, proposal: int | None, nonce: str
) -> bool:
    return signer.is_form(seal, _purpose(person, occurrence, version, proposal, nonce))


def said_query(signer: Signer, said: Said, *, person: Person, occurrence: str) -> dict[str, str]:
    """What the page after a decision shows, as its query."""
    text = one_line(said.text, MOST_SAID)
    done = "1" if said.done else "0"
    return {"said": text, "done": done, "seal": signer.form(_told(person, occurrence, text, done))}


def said_of(signer: Signer, query: Mapping[str, str], *, person: Person, occurrence: str) -> Said | None:
    """What such a query says; None when it is not ours, or for somebody else."""
    text, done = query.get("said", ""), query.get("done", "")
    if not text or not signer.is_form(query.get("seal", ""), _told(person, occurrence, text, done)):
        return None
    return Said(text=text, done=done == "1")


def _purpose(person: Person, occurrence: str, version: int, proposal: int | None, nonce: str) -> str:
    return repr(("decide", person.id, occurrence, version, proposal, nonce))


def _told(person: Person, occurrence: str, text: str, done: str) -> str:
    return repr(("said", person.id, occurrence, text, done))
