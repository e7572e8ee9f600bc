"""The company with its post: real processes of ours between a stand-in workspace and two real mail servers. It tests nothing."""

import signal
from dataclasses import dataclass

from tests.compose.conftest import Company
from tests.compose.processes import Process
from tests.mailservers.delivering import AUTHSERV_ID, Post

OTTO = "otto@partner.example.com"
"""An owner who is not in Slack."""
ANA = "ana@example.com"
FALLBACK = "jobs@example.com"
POLICIES = f"""
version: 1
schedulers:
  shop: {{type: events}}
teams:
  finance:
    slack: {{channel: C0FINANCE}}
    members: [{OTTO}]
    budget: {{limit: 40, unit: run_hours, per: day}}
  growth:
    slack: {{channel: C0GROWTH}}
    members: [{ANA}]
defaults:
  team: finance
  late: {{grace: 15m, start: off, finish: off}}
  rerun: {{max: 2, backoff: 1s, budget: {{limit: 4, unit: run_hours, per: day}}}}
  chase: {{mail_after: 1s, ladder: [{{after: 8h, ask: team}}]}}
jobs:
  - {{match: shop/ads, team: growth}}
fallback: {{channel: C0JOBS, email: {FALLBACK}}}
"""
LOCAL = POLICIES.replace(
    "teams:", """  here: {type: local, jobs: {load: {command: "sh load.sh", every: 30s}}}\nteams:"""
).replace(
    "fallback:",
    f"""  - match: here/load
    team: finance
    open_after: 1
    safe_to_retry: {{causes: [network.connection_reset], by: {OTTO}, since: 2026-11-02}}
fallback:""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """`company` has Slack, the database and the processes; `post` has the mail servers."""

    company: Company
    post: Post

    def starts(self, role: str = "run") -> Process:
        """One more process, which sends and reads mail; returns once it has started."""
        process = self.company.starts(
            role,
            SMTP_URL=self.post.smtp.url,
            IMAP_URL=self.post.imap.url,
            MAIL_FROM="ontrack <ontrack@example.com>",
            MAIL_AUTHSERV_ID=AUTHSERV_ID,
            SECRET_KEY="k" * 32,
            PUBLIC_URL="https://ontrack.example.com",
        )
        process.said("started")
        return process

    def kill(self, process: Process) -> None:
        """In the middle of whatever it does."""
        process.tell(signal.SIGKILL)
        process.ends()

    def root(self, channel: str = "finance") -> str:
        """The text of the one incident in the channel."""
        roots = self.company.roots(channel)
        return self.company.slack.text_of(roots[0]) if roots else ""

    def sees(self, words: str, channel: str = "finance") -> None:
        """The incident's root says so, soon."""
        self.company.sees(lambda: words.lower() in self.root(channel).lower())

    def mails_to(self, address: str) -> list[str]:
        """What went there, in order."""
        return [sent.part("plain") for sent in self.post.smtp.taken if address in sent.to]
