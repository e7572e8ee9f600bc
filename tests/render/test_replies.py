"""Replies and private answers: each reads as its golden file, calls whom it should, and nobody else."""

import json
from dataclasses import replace

import pytest

from bot.evidence.types import EvidenceLine, RootError
from bot.incidents.effects import ReplyKind, Told, ToldKind
from bot.incidents.keys import JobKey
from bot.incidents.model import AskKind
from bot.render.plain import plain
from bot.render.private import told
from bot.render.rendered import Rendered
from bot.render.replies import FACTS, reply
from tests.render import cases
from tests.render.checking import golden_message, refused
from tests.render.replies import REPLIES, TOLD, Case, ask


def rendered(case: Case) -> Rendered:
    return reply(case.kind, case.builtins(), mention=case.mention, snapshot=case.snapshot)


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    found = rendered(REPLIES[name])

    assert refused(found) == []
    golden_message(f"reply {name}", found)


@pytest.mark.parametrize("name", REPLIES)
def test_facts_from_the_database_say_the_same_as_the_values_of_the_core(name: str) -> None:
    case = REPLIES[name]

    assert rendered(case) == reply(case.kind, case.facts, mention=case.mention, snapshot=case.snapshot)


def test_every_kind_of_reply_has_a_golden_file_and_a_list_of_facts() -> None:
    assert {case.kind for case in REPLIES.values()} == set(ReplyKind) == set(FACTS)


@pytest.mark.parametrize("kind", ReplyKind)
def test_a_reply_without_any_fact_is_still_a_message(kind: ReplyKind) -> None:
    found = reply(kind, {}, snapshot=cases.snapshot())

    assert found.text
    assert refused(found) == []


def test_who_is_asked_is_called_in_the_message_and_in_its_notification() -> None:
    found = rendered(REPLIES["ask opening"])

    assert found.text.startswith("<!subteam^S0FINONCALL> ")
    assert found.blocks[0]["text"]["text"].startswith("<!subteam^S0FINONCALL> ")


def test_in_observe_mode_nobody_is_called_and_it_says_whom_it_would_call() -> None:
    found = rendered(REPLIES["ask observe"])

    assert "<!subteam" not in json.dumps([found.text, found.blocks])
    assert "would call fin-oncall" in plain(found)


@pytest.mark.scenario(25)
@pytest.mark.parametrize("name", ["evidence hostile", "ask hostile"])
def test_hostile_text_pings_nobody_and_renders_plainly(name: str) -> None:
    case = replace(REPLIES[name], mention=())

    found = rendered(case)

    assert parsed(found).isdisjoint({"<!channel>", "<@U0ANA>", "<https://evil.example/|click>"})
    assert not set(json.dumps([found.text, found.blocks], ensure_ascii=False)) & set("\u202e\u202c\x00\x07")
    assert refused(found) == []


def parsed(found: Rendered) -> set[str]:
    """Everything between angle brackets in texts that Slack parses."""
    texts = [found.text]
    for block in found.blocks:
        for text in [block.get("text"), *(block.get("elements", []) if block["type"] == "context" else [])]:
            texts += [text["text"]] if isinstance(text, dict) and text["type"] == "mrkdwn" else []
    return {f"<{piece.split('>')[0]}>" for text in texts for piece in text.split("<")[1:]}


def test_a_person_known_by_mail_only_is_named_instead_of_called() -> None:
    mail = replace(cases.CALL_ANA, id="ana@example.com")

    found = rendered(ask(AskKind.OPENING, mention=(mail,)))

    assert found.text.startswith("Ana ")
    assert "<@" not in found.text


def test_an_old_acknowledgement_offers_no_lengths() -> None:
    case = replace(REPLIES["acknowledged"], snapshot=cases.snapshot())

    assert [block["type"] for block in rendered(case).blocks] == ["rich_text"]


def test_an_answered_proposal_offers_no_approval() -> None:
    case = replace(REPLIES["approval"], snapshot=cases.snapshot())

    assert "actions" not in [block["type"] for block in rendered(case).blocks]


def test_whoever_is_told_that_the_cause_is_unknown_can_confirm_it() -> None:
    corrected = cases.snapshot(cases.unknown(corrected_cause="service.throttled"))

    found = told(Told(kind=ToldKind.CONFIRM_UNKNOWN, reason="the cause is unknown"), corrected)

    assert found.blocks[-1]["elements"][0]["confirm"]["style"] == "danger"


def test_evidence_of_a_failure_is_shown_though_a_later_run_is_late() -> None:
    late = replace(cases.SNAPSHOTS["late not started"], evidence=cases.evidence())

    text = plain(reply(ReplyKind.EVIDENCE, {}, snapshot=late))

    assert "server closed the connection" in text
    assert "no error and no log" not in text


def test_the_log_goes_as_a_file_with_a_harmless_name() -> None:
    name = "../../etc/<passwd> \u202e finance"
    snapshot = cases.snapshot(cases.incident(job=JobKey(scheduler="cron", name=name)))

    found = reply(ReplyKind.EVIDENCE, {}, snapshot=snapshot)

    assert found.file is not None
    assert found.file.name == "etc-passwd-finance-12.1-log.txt"
    assert found.file.text.startswith("loading orders\n")


@pytest.mark.scenario(23)
def test_without_a_last_good_run_nothing_is_claimed_about_changes() -> None:
    text = plain(rendered(REPLIES["evidence no last good run"]))

    assert "no last good run" in text
    assert "Last good run: none known" in text
    assert "nothing changed" not in text.lower()


@pytest.mark.parametrize("name", TOLD)
def test_a_private_answer_reads_as_its_golden_file(name: str) -> None:
    found = told(*TOLD[name])

    assert refused(found) == []
    golden_message(f"told {name}", found)


def test_an_error_that_only_the_scheduler_told_stands_beside_the_log() -> None:
    lines = (EvidenceLine(number=1, text="loading 1400 days", decisive=False),)
    limit = RootError(type="ontrack.MemoryLimit", message="held 111 MiB of memory, its limit is 96 MiB", lines=lines)
    snapshot = cases.snapshot(evidence=cases.evidence(root=limit))

    text = plain(reply(ReplyKind.EVIDENCE, {}, snapshot=snapshot))

    assert "held 111 MiB of memory" in text
    assert "loading 1400 days" in text


def test_what_the_scheduler_reported_stands_first_without_a_number() -> None:
    said = "ontrack.MemoryLimit: held 112 MiB of memory, its limit is 96 MiB"
    lines = (EvidenceLine(number=0, text=said, decisive=True), EvidenceLine(number=31, text="loading 1400 days"))
    limit = RootError(type="ontrack.MemoryLimit", message="held 112 MiB of memory, its limit is 96 MiB", lines=lines)
    snapshot = cases.snapshot(evidence=cases.evidence(root=limit))

    text = plain(reply(ReplyKind.EVIDENCE, {}, snapshot=snapshot))

    assert [line.strip() for line in text.splitlines() if "MiB" in line or "1400" in line] == [
        f"▶  -  {said}",
        "31  loading 1400 days",
    ]
