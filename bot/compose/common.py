"""What every side of a service is made of. A value; it builds and runs nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.adapters.slack import SlackChat
from bot.compose.people import FollowedDirectory
from bot.compose.thread_url import ThreadUrl
from bot.intake import Inbound, Outcome
from bot.people import People
from bot.policies import Policies, PolicyFile
from bot.ports import Clock
from bot.reads import Records
from bot.settings import Settings
from bot.signed import Signer
from storage.opening import SqlStorage

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """`slack` and `signer` are None where the environment does not set them up; `take_in` is intake's."""

    settings: Settings
    policy_file: PolicyFile
    storage: SqlStorage
    slack: SlackChat | None
    signer: Signer | None
    directory: FollowedDirectory
    thread_url: ThreadUrl
    records: Records
    take_in: TakeIn
    clock: Clock
    leads: Callable[[], bool]

    def policies(self) -> Policies:
        return self.policy_file.current

    def people(self) -> People:
        return self.directory.people()
