"""Looks over the Slack side of an installation: token, scopes, channels, groups, people, messages. It posts and changes nothing."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from bot.adapters.slack import SlackChat
from bot.adapters.slack_people import AuthInfo
from bot.adapters.slack_scopes import NEEDED, methods_that_need, missing_scopes
from bot.adapters.slack_sockets import SlackSockets
from bot.compose import samples
from bot.compose.finding import Finding, Health
from bot.incidents.policy import Team
from bot.policies import Policies
from bot.ports import Clock, SendFailed
from bot.settings import Settings

REINSTALL = "add it at OAuth & Permissions (or paste `python -m bot manifest` anew), then reinstall the app"
TOKEN_FIXES = {
    "invalid_auth": "copy the Bot User OAuth Token from the app's OAuth & Permissions page into SLACK_BOT_TOKEN",
    "not_authed": "copy the Bot User OAuth Token from the app's OAuth & Permissions page into SLACK_BOT_TOKEN",
    "token_revoked": "reinstall the app at OAuth & Permissions, and copy its new token into SLACK_BOT_TOKEN",
    "token_expired": "switch token rotation off, reinstall the app, and copy its new token into SLACK_BOT_TOKEN",
    "account_inactive": "the app was removed from the workspace: install it again, and copy its new token",
    "missing_scope": REINSTALL,
    "unreachable": "see that this host reaches Slack (HTTPS_PROXY, SLACK_API_URL)",
}
OTHERWISE = "look the word up in Slack's documentation of the method; try again"
UNKNOWN_METHOD = frozenset({"unknown_method", "method_not_supported_for_channel_type", "not_allowed_token_type"})


def examine_slack(settings: Settings, slack: SlackChat, policies: Policies, *, clock: Clock) -> Iterator[Finding]:
    """Everything in turn; a token that opens nothing ends it."""
    try:
        who = slack.auth()
    except SendFailed as failed:
        yield broken("Slack", f"the token opens nothing: {failed.code}", fix_of(failed))
        return
    yield Finding(part="Slack", health=Health.OK, says=f"{who.team} as {who.user_id}")
    yield from _scopes(who)
    yield from _channels(slack, policies)
    for team in policies.teams.values():
        yield from _groups(slack, team)
        yield from _people(slack, team)
    yield from _messages(slack, policies, clock())
    if settings.slack_app_token is not None:
        yield _sockets(settings, settings.slack_app_token, clock)


def _scopes(who: AuthInfo) -> Iterator[Finding]:
    if not who.scopes:
        yield warned(
            "Slack scopes", "Slack does not tell which the token has", "see the app's OAuth & Permissions page"
        )
        return
    missing = missing_scopes(who.scopes)
    for scope in missing:
        why = ", ".join(methods_that_need(scope)) or "slash commands"
        yield broken("Slack scopes", f"{scope} is missing, which {why} needs", REINSTALL)
    if surplus := sorted(who.scopes - NEEDED):
        yield warned("Slack scopes", f"more than is needed: {', '.join(surplus)}", "take them out of the app")
    if not missing:
        yield Finding(part="Slack scopes", health=Health.OK, says=f"all {len(NEEDED)} are there")


def _channels(slack: SlackChat, policies: Policies) -> Iterator[Finding]:
    named = {f"team {team.name}": team.channel for team in policies.teams.values() if team.channel}
    if policies.fallback.channel:
        named["fallback"] = policies.fallback.channel
    for who, channel in named.items():
        yield from asked(f"channel of {who}", partial(_channel, slack, who, channel))


def _channel(slack: SlackChat, who: str, channel_id: str) -> Iterator[Finding]:
    part, found = f"channel of {who}", slack.channel(channel_id)
    if found is None:
        fix = "correct its id in policies.yaml, or type /invite @ontrack in it"
        yield broken(part, f"{channel_id} is not there, or is private and without ontrack", fix)
    elif found.archived:
        yield broken(part, f"#{found.name} is archived", "unarchive it, or name another channel in policies.yaml")
    elif not found.member:
        yield broken(part, f"ontrack is not in #{found.name}", "type /invite @ontrack in that channel")
    else:
        yield Finding(part=part, health=Health.OK, says=f"#{found.name}{' (private)' if found.private else ''}")


def _groups(slack: SlackChat, team: Team) -> Iterator[Finding]:
    for name, group in (("usergroup", team.usergroup), ("team_usergroup", team.team_usergroup)):
        if group:
            yield from asked(f"team {team.name}", partial(_group, slack, team, name, group))


def _group(slack: SlackChat, team: Team, name: str, group: str) -> Iterator[Finding]:
    part, members = f"team {team.name}", slack.group_members(group)
    if members is None:
        fix = "enable it in Slack, or correct its id in policies.yaml"
        yield broken(part, f"{name} {group} is not there, or is disabled", fix)
    elif not members:
        yield broken(part, f"{name} {group} has no members", "add members to it in Slack")
    else:
        yield Finding(part=part, health=Health.OK, says=f"{name} {group} has {len(members)} members")


def _people(slack: SlackChat, team: Team) -> Iterator[Finding]:
    rota = team.rota.members if team.rota else ()
    for name in sorted({*team.members, *rota, *((team.manager,) if team.manager else ())}):
        yield from asked(f"team {team.name}", partial(_person, slack, team, name))


def _person(slack: SlackChat, team: Team, name: str) -> Iterator[Finding]:
    found = slack.user_by_email(name) if "@" in name else slack.user(name)
    fix = "correct or remove the name in policies.yaml"
    if found is None:
        yield warned(f"team {team.name}", f"{name} is nobody in the workspace", fix)
    elif found.deleted or found.bot or found.guest or found.stranger:
        yield warned(f"team {team.name}", f"{name} is deactivated, a guest, a stranger or a bot: never decides", fix)


def _messages(slack: SlackChat, policies: Policies, now: datetime) -> Iterator[Finding]:
    """Slack's own word on one of each: there may be a kind of block that this workspace does not take."""
    count = 0
    try:
        for name, message in samples.messages(policies, now):
            yield from _wrong(name, slack.problems(message=message))
            count += 1
        for name, view in samples.views(policies, now):
            yield from _wrong(name, slack.problems(view=view))
            count += 1
    except SendFailed as failed:
        yield warned("Slack messages", f"not checked after {count}: blocks.validate says {failed.code}", fix_of(failed))
        return
    yield Finding(part="Slack messages", health=Health.OK, says=f"{count} were checked by Slack")


def _wrong(name: str, problems: tuple[str, ...]) -> Iterator[Finding]:
    for problem in problems:
        if name.endswith(", rich"):
            yield warned("Slack messages", f"{name}: {problem}", "nothing: the classic form is sent instead")
        else:
            yield broken(
                "Slack messages", f"{name}: {problem}", "report it: ontrack makes a message that Slack refuses"
            )


def _sockets(settings: Settings, token: str, clock: Clock) -> Finding:
    sockets = SlackSockets(app_token=token, clock=clock, base_url=settings.slack_api_url)
    try:
        sockets.open()
    except SendFailed as failed:
        fix = "make an app-level token with connections:write at Basic Information, and set SLACK_APP_TOKEN to it"
        return broken("Socket Mode", f"no connection is given: {failed.code}", fix)
    finally:
        sockets.close()
    return Finding(part="Socket Mode", health=Health.OK, says="a connection is given")


def asked(part: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What `look` finds; that Slack does not answer is a finding as well."""
    try:
        yield from look()
    except SendFailed as failed:
        yield broken(part, f"could not be looked at: {failed.code}", fix_of(failed))


def fix_of(failed: SendFailed) -> str:
    """What to do about Slack's word."""
    if failed.code in UNKNOWN_METHOD:
        return "nothing: this workspace does not have it"
    needed = [note for note in getattr(failed, "__notes__", ()) if note.startswith("needed:")]
    return f"{TOKEN_FIXES.get(failed.code, OTHERWISE)}{f' ({needed[0]})' if needed else ''}"


def broken(part: str, says: str, fix: str) -> Finding:
    return Finding(part=part, health=Health.BROKEN, says=says, fix=fix)


def warned(part: str, says: str, fix: str) -> Finding:
    return Finding(part=part, health=Health.WARN, says=says, fix=fix)
