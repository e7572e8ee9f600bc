"""Who may see what: nobody without a link or a login, a link one record only, a login only through the trusted proxy."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.handlers.doubles import Clock
from tests.pages.browser import Browser
from tests.pages.markup import words_of
from tests.pages.site import HEADER, PROXY, PUBLIC, Site, site

PAGES = ("/i/1", "/i/1.1", "/records", "/jobs/airflow-prod/finance.daily_revenue", "/teams/finance-data")
LISTS = PAGES[2:]


@pytest.mark.parametrize("path", [*PAGES, "/i/999", "/i/1.7", "/jobs/no/such", "/teams/none"])
def test_nobody_sees_anything_and_learns_nothing_of_what_there_is(web: Site, path: str) -> None:
    web.fails()
    answer = web.browser().get(path)

    assert answer.status_code == 401
    assert "revenue" not in words_of(answer.text)
    assert "Slack" in answer.text or "login" in answer.text


@pytest.mark.parametrize("record", [1, 999])
def test_a_bad_link_is_refused_alike_for_a_record_that_is_there_and_one_that_is_not(web: Site, record: int) -> None:
    web.fails()
    answer = web.browser().get(f"/i/{record}?k=20800-{'a' * 20}")

    assert answer.status_code == 403
    assert "button" in words_of(answer.text)


def test_a_link_reads_its_record_and_all_its_occurrences(web: Site) -> None:
    web.fails()
    for path in ("/i/1", "/i/1.1"):
        answer = web.browser().get(f"{path}?k={web.key()}")

        assert answer.status_code == 200
        assert "finance.daily_revenue failed" in words_of(answer.text)
        assert "<form" not in answer.text


def test_a_link_reads_nothing_else(web: Site) -> None:
    web.fails()
    web.fails(job="finance.other", id="e2")

    assert web.browser().get(f"/i/2?k={web.key(2)}").status_code == 200
    assert web.browser().get(f"/i/2?k={web.key(1)}").status_code == 403
    for path in LISTS:
        assert web.browser().get(f"{path}?k={web.key()}").status_code == 401


def test_a_link_ends_after_its_days(web: Site, clock: Clock) -> None:
    web.fails()
    key = web.key()
    clock.move(timedelta(days=30))

    assert web.browser().get(f"/i/1?k={key}").status_code == 200

    clock.move(timedelta(days=1))

    assert web.browser().get(f"/i/1?k={key}").status_code == 403


def test_a_link_that_was_made_for_a_record_that_is_gone_is_told_so(web: Site) -> None:
    assert web.browser().get(f"/i/5?k={web.key(5)}").status_code == 404


@pytest.mark.parametrize(
    ("login", "status"),
    [
        ("ana@example.com", 200),
        ("ANA@Example.com", 200),
        ("U0BEN", 200),
        ("gil@example.com", 200),
        ("sam@example.com", 200),
        ("zoe@example.com", 200),
        ("Maria@example.com", 200),
        ("ana", 200),
        ("maria", 200),
        ("eve@example.com", 403),
        ("U0EVE", 403),
        ("mallory@example.com", 403),
        ("mallory", 403),
        ("Ana Example", 403),
        ("ana@example.com, ben@example.com", 403),
        ("ana@example.com\tx", 403),
        ("x" * 300, 403),
    ],
)
def test_a_login_reads_everything_when_it_is_somebody_of_ours(web: Site, login: str, status: int) -> None:
    web.fails()

    for path in PAGES:
        assert web.browser(login=login).get(path).status_code == status


def test_an_empty_login_is_none(web: Site) -> None:
    assert web.browser(login=" ").get("/records").status_code == 401


def test_a_login_that_comes_twice_is_nobody(web: Site) -> None:
    ana = ((HEADER, "ana@example.com"), (HEADER, "ana@example.com"))
    browser = Browser(app=web.app, base_url=PUBLIC, peer=PROXY, twice=ana)

    assert browser.get("/records").status_code == 403
    assert replace(browser, twice=ana[:1]).get("/records").status_code == 200


@pytest.mark.parametrize("peer", ["203.0.113.9", "10.0.0.8", "::1", "", "not an address"])
def test_the_header_of_a_login_counts_from_the_trusted_proxy_only(web: Site, peer: str) -> None:
    web.fails()
    browser = web.browser(login="ana@example.com", peer=peer, x_forwarded_for=PROXY, forwarded=f"for={PROXY}")

    assert [browser.get(path).status_code for path in PAGES] == [401] * len(PAGES)


@pytest.mark.parametrize("peer", ["10.9.8.7", "::ffff:10.9.8.7", "fd00::7"])
def test_proxies_are_networks_of_either_kind(sqlite_url: str, clock: Clock, peer: str) -> None:
    with site(sqlite_url, clock, proxies=("10.9.0.0/16", "fd00::/64")) as made:
        assert made.browser(login="ana@example.com", peer=peer).get("/records").status_code == 200


def test_without_a_proxy_nobody_can_log_in(sqlite_url: str, clock: Clock) -> None:
    with site(sqlite_url, clock, proxies=()) as made:
        assert made.browser(login="ana@example.com").get("/records").status_code == 401


def test_a_login_sees_what_is_not_there_as_not_there(web: Site) -> None:
    ana = web.browser(login="ana@example.com")

    for path in ("/i/999", "/i/1", "/i/0", "/i/abc", "/i/1.0", "/jobs/no/such", "/teams/none"):
        assert ana.get(path).status_code == 404


def test_a_bare_name_counts_only_where_all_addresses_have_one_domain(sqlite_url: str, clock: Clock) -> None:
    two = """\
version: 1
teams:
  finance-data: {slack: {channel: C0FINANCE}, members: [ana@example.com, ana@partner.example]}
defaults: {team: finance-data}
fallback: {channel: C0JOBS}
"""
    with site(sqlite_url, clock, policies=two) as made:
        assert made.browser(login="ana").get("/records").status_code == 403
        assert made.browser(login="ana@partner.example").get("/records").status_code == 200


def test_names_of_links_are_tried_a_few_times_only_and_good_ones_go_on_working(web: Site, clock: Clock) -> None:
    web.fails()
    answers = [web.browser().get(f"/i/1?k=20800-{'b' * 20}").status_code for _ in range(21)]
    last = web.browser().get(f"/i/1?k=20800-{'b' * 20}")

    assert answers == [403] * 20 + [429]
    assert last.status_code == 429
    assert 1 <= int(last.headers["retry-after"]) <= 6
    assert web.browser().get(f"/i/1?k={web.key()}").status_code == 200
    assert web.browser(peer="203.0.113.9").get(f"/i/1?k=20800-{'b' * 20}").status_code == 403

    clock.move(timedelta(seconds=6))

    assert web.browser().get(f"/i/1?k=20800-{'b' * 20}").status_code == 403
