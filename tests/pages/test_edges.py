"""The edges of the door: what every answer bears, wrong addresses and methods, garbage, sizes, and what a page costs."""

import re

import pytest

from handlers.pages.requests import MOST_QUERY
from tests.handlers.doubles import Clock
from tests.pages.browser import Browser
from tests.pages.markup import page_of, words_of
from tests.pages.site import Site, site
from tests.storage.test_statements import counted

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pytest.fixture
def ana(web: Site) -> Browser:
    web.fails()
    return web.browser(login="ana@example.com")


def everything(web: Site) -> tuple[str, ...]:
    return ("/", "/records", "/i/1", "/i/9", "/nope", "/jobs/a/b", web.link("ack"), "/d/x/ack", f"/i/1?k={web.key()}")


def test_every_answer_bears_what_keeps_it_safe(web: Site, ana: Browser) -> None:
    for browser in (ana, web.browser()):
        for path in everything(web):
            headers = browser.get(path).headers

            assert headers["content-security-policy"] == POLICY
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cache-control"] == "no-store"
            assert headers["strict-transport-security"].startswith("max-age=")
            assert headers["content-type"] == "text/html; charset=utf-8"
            assert "set-cookie" not in headers


def test_a_browser_is_bound_to_https_only_where_we_are_served_by_it(sqlite_url: str, clock: Clock) -> None:
    with site(sqlite_url, clock, public_url="http://ontrack.example.com") as made:
        assert "strict-transport-security" not in made.browser(login="ana@example.com").get("/records").headers


def test_every_page_is_below_the_path_of_our_address(sqlite_url: str, clock: Clock) -> None:
    with site(sqlite_url, clock, public_url="https://tools.example.com/ontrack/") as made:
        made.fails()
        ana = made.browser(login="ana@example.com")

        assert ana.get("/").headers["location"] == "/ontrack/records"
        for path in ("/records", "/i/1", "/jobs/airflow-prod/finance.daily_revenue", "/teams/finance-data"):
            page = page_of(ana.get(path).text)
            ours = [
                one.attributes[name] for one in page.elements for name in ("href", "action") if name in one.attributes
            ]

            assert all(re.match(r"/ontrack/|#|https://", address) for address in ours)


def test_the_style_sheet_is_kept_under_its_hash_only(web: Site, ana: Browser) -> None:
    (style,) = [
        one.attributes["href"]
        for one in page_of(ana.get("/i/1").text).all("link")
        if one.attributes["rel"] == "stylesheet"
    ]
    known, other = web.browser().get(style), web.browser().get("/assets/ontrack.css?v=old")

    assert (known.status_code, known.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in known.headers["cache-control"]
    assert other.headers["cache-control"] == "no-cache"
    assert web.browser().get(style, if_none_match=known.headers["etag"]).status_code == 304
    assert web.browser().get("/assets/ontrack.svg").headers["content-type"].startswith("image/svg+xml")


def test_head_is_answered_as_get_is(web: Site, ana: Browser) -> None:
    for path in everything(web):
        assert ana.request("HEAD", path).status_code == ana.get(path).status_code


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/records"),
        ("POST", "/i/1"),
        ("PUT", "/i/1.1/ack"),
        ("DELETE", "/d/x/ack"),
        ("POST", "/assets/ontrack.css"),
    ],
)
def test_a_method_that_is_not_taken_is_told(ana: Browser, method: str, path: str) -> None:
    answer = ana.request(method, path)

    assert answer.status_code == 405
    assert answer.headers["allow"]
    assert "cannot be done here" in words_of(answer.text)


def test_whoever_is_no_browser_is_told_in_json_what_is_not_there(web: Site) -> None:
    answer = web.browser(accept="application/json").get("/nope")

    assert answer.status_code == 404
    assert answer.json()["error"]["field"] == "path"


GARBAGE = (
    "%00",
    "%FF%FE",
    "..%2f..%2fetc",
    "%F0%9F%92%A5",
    "a" * 3000,
    "%0d%0aX:%20y",
    "'%22%3E%3Cscript%3E",
    "%",
    "-1",
    "1.1.1",
)


@pytest.mark.parametrize("part", GARBAGE)
def test_garbage_in_a_path_is_never_an_error_of_ours(web: Site, ana: Browser, part: str) -> None:
    for path in (
        f"/i/{part}",
        f"/i/{part}/ack",
        f"/jobs/{part}/x",
        f"/jobs/x/{part}",
        f"/teams/{part}",
        f"/d/{part}/ack",
    ):
        for method in ("GET", "POST"):
            assert 400 <= ana.request(method, path, data={} if method == "POST" else None).status_code < 429


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=nothing", "status"),
        ("team=none", "team"),
        ("since=yesterday", "since"),
        ("since=2026-13-01", "since"),
        ("since=0000-00-00", "since"),
        ("before=x", "before"),
        ("before=2026-11-30T02:12:30Z_0.1", "before"),
        ("before=9999-99-99T99:99:99Z_1.1", "before"),
        (f"job={'*' * 301}", "job"),
        (f"cause={'x' * 121}", "cause"),
        ("status=all&status=open", "query"),
        ("job=%00", "query"),
        ("job=%FF", "query"),
        ("&".join(f"a{number}=1" for number in range(41)), "query"),
        (f"job={'x' * MOST_QUERY}", "query"),
    ],
)
def test_a_wrong_filter_is_named(ana: Browser, query: str, field: str) -> None:
    answer = ana.get(f"/records?{query}")

    assert answer.status_code == 400
    assert f"{field.capitalize()}:" in words_of(answer.text) or field == "query"


@pytest.mark.parametrize(
    "job", ["*" * 300, "[!]]*[", "[", "(?:x", "a*a*a*a*a*a*a*a*a*a*a*a*b", "airflow-prod/finance.*"]
)
def test_any_glob_is_read_in_no_time(ana: Browser, job: str) -> None:
    assert ana.get(f"/records?{'job=' + job.replace('*', '%2A').replace('[', '%5B')}").status_code == 200


@pytest.mark.parametrize("query", ["x=1", "status=", "status=all&team=&job=&cause=&since=", "k=%20"])
def test_what_says_nothing_is_no_fault(ana: Browser, query: str) -> None:
    assert ana.get(f"/records?{query}").status_code == 200


def test_a_body_that_is_too_large_is_refused(web: Site, ana: Browser) -> None:
    answer = ana.request("POST", web.link("ack"), content=b"a=" + b"x" * 70_000)

    assert answer.status_code == 413
    assert "too much at once" in words_of(answer.text)


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x", "text/plain"])
def test_only_a_form_is_taken(web: Site, ana: Browser, kind: str) -> None:
    assert ana.request("POST", web.link("ack"), content=b"{}", headers={"content_type": kind}).status_code == 415


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"a=%FF", b"argument=%00", b"a=1&a=2", b"&".join(b"f%d=1" % n for n in range(41))]
)
def test_a_form_that_is_garbage_is_refused(web: Site, ana: Browser, body: bytes) -> None:
    kind = {"content_type": "application/x-www-form-urlencoded"}

    assert ana.request("POST", web.link("ack"), content=body, headers=kind).status_code == 400
    assert web.newest().acknowledgement is None


def test_the_list_can_be_asked_for_what_matters(web: Site, ana: Browser) -> None:
    web.fails(job="ads.spend", id="e2")

    def listed(query: str) -> list[str]:
        return [
            one.text for one in page_of(ana.get(f"/records?{query}").text).all("th") if one.attributes["scope"] == "row"
        ]

    assert listed("") == ["2.1", "1.1"]
    assert listed("team=growth") == ["2.1"]
    assert listed("job=airflow-prod/finance.*") == ["1.1"]
    assert listed("job=*spend") == ["2.1"]
    assert listed("cause=network.connection_reset&status=all") == ["2.1", "1.1"]
    assert listed("cause=unknown") == listed("status=resolved") == listed("since=2026-12-01") == []


def test_the_list_goes_on_by_its_own_link(web: Site, ana: Browser) -> None:
    for number in range(59):
        web.fails(job=f"finance.job_{number}", id=f"n{number}")
    seen: list[str] = []
    path: str | None = "/records?status=all&job=airflow-prod/*"
    for _ in range(2):
        page = page_of(ana.get(path or "").text)
        seen += [one.text for one in page.all("th") if one.attributes["scope"] == "row"]
        path = next((one.attributes["href"] for one in page.all("a") if one.text == "Older records"), None)

    assert path is None
    assert seen == [f"{record}.1" for record in range(60, 0, -1)]


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/records", 1),
        ("/records?status=all", 1),
        ("/jobs/airflow-prod/finance.daily_revenue", 5),
        ("/teams/finance-data", 5),
        ("/i/1", 12),
    ],
)
def test_a_page_costs_few_statements_however_much_there_is(both: Site, path: str, most: int) -> None:
    both.fails()
    ana = both.browser(login="ana@example.com")
    counts = []
    for number in (0, 30):
        for at in range(number):
            both.fails(job=f"finance.job_{at}", id=f"n{at}")
        with counted() as statements:
            answer = ana.get(path)

        assert answer.status_code == 200

        counts.append(len(statements))

    assert counts[0] == counts[1] <= most
