"""Makes the core's policy types of the settings in the file. It merges nothing and checks nothing but safe marks."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, time, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from bot.incidents.policy import (
    BudgetLimit,
    CanaryPolicy,
    ChasePolicy,
    Fallback,
    Hours,
    JobPolicy,
    LatePolicy,
    Limits,
    MailPolicy,
    Mode,
    RerunPolicy,
    Rota,
    SafeMark,
    Schedule,
    Step,
    StormPolicy,
    Team,
    Urgency,
)
from bot.policies.shapes import DigestShape, FallbackShape, HoursShape, MailShape, RotaShape, SettingsShape, TeamShape

Built = TypeVar("Built")


def settings_of(shape: SettingsShape) -> dict[str, Any]:
    """What an entry of the file says, as typed values in maps; a mark carries the team that stands beside it."""
    settings = shape.model_dump(exclude_unset=True, exclude={"match", "safe_to_retry"})
    if "safe_to_retry" in shape.model_fields_set:
        marks = shape.safe_to_retry or []
        settings["safe_to_retry"] = tuple(
            SafeMark(cause=cause, team=shape.team or "", by=mark.by, since=mark.since)
            for mark in (marks if isinstance(marks, list) else [marks])
            for cause in mark.causes
        )
    return settings


def built_in() -> dict[str, Any]:
    """The settings that hold where the file says nothing, as an entry of the file would have them."""
    policy, late = JobPolicy(), LatePolicy()
    return {
        "mode": policy.mode,
        "urgency": policy.urgency,
        "rerun": {**_values(policy.rerun), "budget": _budget_settings(policy.rerun.budget)},
        "late": {
            "grace": late.grace,
            "start": late.start_within if late.start_within is not None else "off",
            "finish": "learned" if late.learned else "off",
            "learned_floor": late.learned_floor,
        },
        "chase": {**_values(policy.chase), "ladder": [_values(step) for step in policy.chase.ladder]},
        "limits": _values(policy.limits),
        "storm": _values(policy.storm),
        "canary": _values(policy.canary),
        "watch_manual": policy.watch_manual,
        "mail": _values(MailPolicy()),
        "redact": {"email_addresses": policy.hides_addresses},
    }


def job_policy(
    settings: Mapping[str, Any], *, teams: Mapping[str, Team], fallback: Fallback, admins: tuple[str, ...]
) -> JobPolicy:
    """The policy of a job for which `settings` hold."""
    team = teams.get(settings.get("team") or "")
    rerun = _present(settings, "rerun")
    if budget := _budget(rerun.pop("budget", {})):
        rerun["budget"] = budget
    chase = _present(settings, "chase")
    if "ladder" in chase:
        chase["ladder"] = tuple(_step(step) for step in chase["ladder"])
    return JobPolicy(
        team=team,
        mode=settings.get("mode") or Mode.ACT,
        urgency=settings.get("urgency") or Urgency.HIGH,
        recovers_by=settings.get("recovers_by"),
        open_after=settings.get("open_after"),
        rerun=RerunPolicy(**rerun),
        rates=tuple(sorted(_present(settings, "rate").items())),
        late=_late(_present(settings, "late")),
        chase=ChasePolicy(**chase),
        limits=Limits(**_present(settings, "limits")),
        storm=StormPolicy(**_present(settings, "storm")),
        canary=CanaryPolicy(**_present(settings, "canary")),
        safe_marks=tuple(weighed(mark, team) for mark in settings.get("safe_to_retry") or ()),
        downstream=tuple(settings.get("downstream") or ()),
        schedule=_schedule(_present(settings, "schedule")),
        runbook=settings.get("runbook"),
        watch_manual=bool(settings.get("watch_manual")),
        hides_addresses=bool(_present(settings, "redact").get("email_addresses")),
        fallback=fallback,
        admins=admins,
    )


def team_of(name: str, shape: TeamShape) -> Team:
    """The team `name` as the file has it."""
    slack = shape.slack
    return Team(
        name=name,
        channel=slack.channel if slack else None,
        usergroup=slack.usergroup if slack else None,
        team_usergroup=slack.team_usergroup if slack else None,
        email=shape.email,
        members=tuple(shape.members),
        rota=_rota(shape.oncall) if shape.oncall else None,
        hours=_hours(shape.hours) if shape.hours else None,
        manager=shape.manager,
        budget=_budget(shape.budget.model_dump()) if shape.budget else None,
        mode=shape.mode,
        digest_at=_digest_at(shape),
        webhook=shape.webhook,
    )


def our_team(fallback: Fallback, admins: tuple[str, ...]) -> Team:
    """Who answers for ontrack itself where the file names nobody: the admins, in the fallback channel."""
    return Team(name="ontrack", channel=fallback.channel, email=fallback.email, members=admins)


def fallback_of(shape: FallbackShape) -> Fallback:
    """Where to turn when an owner leads to nobody."""
    return Fallback(channel=shape.channel, email=shape.email)


def mail_of(shape: MailShape) -> MailPolicy:
    """How answers by mail are taken."""
    return MailPolicy(unproven=shape.unproven) if shape.unproven is not None else MailPolicy()


def weighed(mark: SafeMark, team: Team | None) -> SafeMark:
    """The mark, with why it counts for nothing if it does."""
    if team is None:
        return replace(mark, void="the job has no owning team")
    if mark.team != team.name:
        return replace(mark, void=f"marked by {mark.team}, but the job belongs to {team.name}")
    if mark.by.casefold() not in {member.casefold() for member in team.members}:
        return replace(mark, void=f"marked by {mark.by}, who is not a member of {team.name}")
    return mark


def _budget(settings: Mapping[str, Any]) -> BudgetLimit | None:
    given = {"zone" if name == "timezone" else name: value for name, value in settings.items() if value is not None}
    return BudgetLimit(**given) if "limit" in given else None


def _budget_settings(budget: BudgetLimit | None) -> dict[str, Any]:
    return {"timezone" if name == "zone" else name: value for name, value in _values(budget).items()} if budget else {}


def _late(settings: dict[str, Any]) -> LatePolicy:
    start, finish = settings.pop("start", None), settings.pop("finish", None)
    zone = settings.pop("timezone", None)
    late = LatePolicy(**settings)
    if zone is not None:
        late = replace(late, zone=zone)
    if start is not None:
        late = replace(late, start_within=start if isinstance(start, timedelta) else None)
    if finish is not None:
        within = finish if isinstance(finish, timedelta) else None
        late = replace(late, finish_within=within, learned=finish == "learned")
    return late


def _schedule(settings: Mapping[str, Any]) -> Schedule | None:
    if not settings:
        return None
    return Schedule(
        cron=settings.get("cron"),
        zone=settings.get("timezone") or "UTC",
        every=settings.get("every"),
        next_run_at=settings.get("next_run"),
    )


def _step(settings: Mapping[str, Any]) -> Step:
    given = {name: value for name, value in settings.items() if value is not None}
    return Step(**{**given, "by": tuple(given["by"])} if "by" in given else given)


def _rota(shape: RotaShape) -> Rota:
    since = shape.from_.replace(tzinfo=ZoneInfo(shape.timezone)).astimezone(UTC)
    return Rota(members=tuple(shape.rota), every=shape.every, since=since, zone=shape.timezone)


def _hours(shape: HoursShape) -> Hours:
    return Hours(days=shape.days, starts=shape.from_, ends=shape.to, zone=shape.timezone)


def _digest_at(shape: TeamShape) -> time | None:
    """When the hours begin, unless the file says otherwise; without hours, or anybody to read it, there is no digest."""
    channel = shape.slack.channel if shape.slack else None
    if shape.hours is None or not (channel or shape.email or shape.manager) or shape.digest == "off":
        return None
    return shape.digest.at if isinstance(shape.digest, DigestShape) else shape.hours.from_


def _present(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in (settings.get(name) or {}).items() if value is not None}


def _values(built: Any) -> dict[str, Any]:
    return {each.name: getattr(built, each.name) for each in fields(built)}
