"""Looks over an installation and says what is set up, what is off and what is broken. It changes nothing."""

from collections.abc import Iterator

from bot.adapters.slack import SlackChat
from bot.compose.doctor_mail import examine_mail
from bot.compose.doctor_schedulers import examine_schedulers
from bot.compose.doctor_slack import examine_slack
from bot.compose.finding import Finding, Health
from bot.compose.service import utc_now
from bot.policies import Policies, void_marks
from bot.settings import Settings
from bot.store import StorageDown
from storage.leases import DatabaseTaken
from storage.migrating import SchemaMismatch
from storage.opening import open_storage


def examine(settings: Settings, policies: Policies) -> Iterator[Finding]:
    """Every part in turn: database, policies, schedulers, Slack, mail, and what is switched off."""
    yield _database(settings)
    yield from _policies(policies)
    yield from examine_schedulers(policies, clock=utc_now)
    if settings.slack_bot_token is not None:
        yield from _slack(settings, settings.slack_bot_token, policies)
    yield from examine_mail(settings, clock=utc_now)
    for part, why in settings.off:
        yield Finding(part=part, health=Health.OFF, says=why)
    for warning in settings.warnings:
        yield Finding(part="environment", health=Health.WARN, says=warning)


def _database(settings: Settings) -> Finding:
    try:
        storage = open_storage(settings.database_url, instance="doctor", read_only=True)
    except (StorageDown, SchemaMismatch, DatabaseTaken) as failed:
        return Finding(part="database", health=Health.BROKEN, says=str(failed))
    try:
        counts = storage.reads.counts()
    finally:
        storage.close()
    open_ones = sum(count for name, count in counts.items() if name.startswith("incidents."))
    return Finding(part="database", health=Health.OK, says=f"{counts.get('jobs', 0)} jobs, {open_ones} unresolved")


def _policies(policies: Policies) -> Iterator[Finding]:
    jobs = policies.declared_jobs()
    says = f"version {policies.version[:12]}: {len(policies.schedulers)} schedulers, {len(jobs)} local jobs"
    yield Finding(part="policies", health=Health.OK, says=says)
    for job in jobs:
        policy = policies.job(job)
        if policy.team is None:
            yield Finding(
                part=str(job), health=Health.WARN, says="no team owns it: only admins can decide", fix="give it a team"
            )
        elif policy.team.channel is None and policy.fallback.channel is None:
            says = "no channel and no fallback channel: nobody is told"
            fix = "name slack.channel in the team, or fallback.channel"
            yield Finding(part=str(job), health=Health.WARN, says=says, fix=fix)
    for mark in void_marks(policies):
        yield Finding(part="safe marks", health=Health.WARN, says=str(mark))


def _slack(settings: Settings, token: str, policies: Policies) -> Iterator[Finding]:
    slack = SlackChat(token=token, clock=utc_now, base_url=settings.slack_api_url)
    try:
        yield from examine_slack(settings, slack, policies, clock=utc_now)
    finally:
        slack.close()
