"""What people see in the workspace, and what is so in the database. It changes nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from bot.incidents.keys import Action
from bot.incidents.model import Incident
from bot.intake.surroundings import scopes_of
from bot.ports import SchedulerRequest
from bot.store import EffectRow, EffectState, TimelineRow, Which
from tests.world.people import CHANNELS, GROUPS, PEOPLE
from tests.world.reporting import Reporting, key_of
from tests.world.reports import SCHEDULER
from tests.world.seen import Mention, buttons, pinged

Json = dict[str, Any]
NAMES = {sign: name for table in (PEOPLE, GROUPS, CHANNELS) for name, sign in table.items()}


@dataclass(slots=True)
class Seeing(Reporting):
    """Threads, direct messages and mentions are read from the stand-in, everything else from the storage's reads."""

    def root(self, job: str, *, number: int | None = None) -> Json:
        """The root message of the job's newest (or that) occurrence."""
        return self.messages(job, number=number)[0]

    def messages(self, job: str, *, number: int | None = None) -> list[Json]:
        channel, ts = self.place(job, number=number)
        return [{**message, "channel": channel} for message in self.stage.slack.thread(channel, ts)]

    def thread(self, job: str, *, number: int | None = None) -> str:
        """The whole thread as people read it."""
        return "\n---\n".join(self.text_of(message) for message in self.messages(job, number=number))

    def replies(self, job: str, *, number: int | None = None) -> list[str]:
        """The texts of the replies, oldest first."""
        return [self.text_of(message) for message in self.messages(job, number=number)[1:]]

    def place(self, job: str, *, number: int | None = None) -> tuple[str, str]:
        incident = self.incident(job, number=number)
        found = self.service.storage.reads.conversation_of(record=incident.record, number=incident.number)
        assert found is not None, f"{job} has no thread"
        assert found[1] is not None, f"the root of {job} was not posted"
        return found[0], found[1]

    def channel(self, name: str) -> list[str]:
        """What stands in the channel itself, oldest first."""
        return [self.text_of(message) for message in self.stage.slack.messages(CHANNELS[name])]

    def direct(self, person: str) -> list[str]:
        """The bot's direct messages to the person."""
        state = self.stage.slack.state()
        ids = [each["id"] for each in state["channels"] if each.get("is_im") and PEOPLE[person] in each["members"]]
        return [self.text_of(message) for each in ids for message in self.stage.slack.messages(each)]

    def mentions(self) -> list[Mention]:
        """Whose phone rang, in the order in which it did: posts only, since edits notify nobody."""
        found = []
        for row in self.posted():
            channel, message = row["result"]["channel"], row["result"]["message"]
            for sign in pinged(message):
                at = datetime.fromisoformat(row["at"]).astimezone(UTC)
                who, where = NAMES.get(sign, sign), NAMES.get(channel, channel)
                found.append(Mention(at=at, who=who, channel=where, text=self.text_of(message)))
        return found

    def asks(self) -> list[Mention]:
        """The messages that mention somebody, each once."""
        return list({(mention.at, mention.text): mention for mention in self.mentions()}.values())

    def posted(self) -> list[Json]:
        """The posts that the workspace has accepted, as rows of its journal."""
        return self.stage.slack.journal(method="chat.postMessage", since=self.stage.began_with)

    def text_of(self, message: Json) -> str:
        return self.stage.slack.text_of(message)

    def message_with(self, label: str, job: str, number: int | None = None) -> Json:
        """The newest message of the thread with such a button, as it stands now."""
        messages = self.messages(job, number=number)
        found = [message for message in messages if label in buttons(message)]
        shown = [list(buttons(message)) for message in messages]
        assert found, f"no button {label} in the thread of {job}, only {shown}"
        return found[-1]

    def incident(self, job: str, *, number: int | None = None) -> Incident:
        """The job's newest occurrence (or that number of it)."""
        found = [one for one in self.incidents(job) if number in (None, one.number)]
        assert found, f"{job} has no incident"
        return found[0]

    def incidents(self, job: str = "*") -> tuple[Incident, ...]:
        """Its occurrences, the newest first."""
        return self.service.storage.reads.incidents(which=Which.ALL, jobs=f"{SCHEDULER}/{job}", limit=1000)

    def reruns(self) -> list[SchedulerRequest]:
        """The reruns that the scheduler was asked for, each call of it."""
        return self.scheduler.requests(Action.RERUN)

    def timeline(self, job: str) -> tuple[TimelineRow, ...]:
        incident = self.incident(job)
        return self.service.storage.reads.timeline(record=incident.record, number=incident.number)

    def reasons(self, job: str) -> str:
        """The timeline's reasons, a line each."""
        return "\n".join(f"{row.kind}: {row.reason}" for row in self.timeline(job))

    def outbox(self, *states: EffectState) -> tuple[EffectRow, ...]:
        return self.service.storage.reads.outbox(states=states or tuple(EffectState), limit=10_000)

    def used(self, job: str) -> float:
        """The run hours of the job's automatic allowance that are booked in this period."""
        policy = self.service.policies.current.job(key_of(job))
        booked = self.service.storage.reads.booked(scopes=scopes_of(key_of(job), policy, self.now))
        return sum(amount for scope, amount in booked.items() if scope.name.startswith("job:"))

    def ready(self) -> httpx.Response:
        """What readiness says."""
        return self._http.get("/readyz")

    def gets(self, address: str, **headers: str) -> httpx.Response:
        """What a browser, or a crontab's curl, gets at this address."""
        return self._http.get(address, headers=headers)
