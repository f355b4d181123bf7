"""Who may ask the served pages, and what every answer forbids."""

import pytest

from idealrank.errors import OptionError
from idealrank.store.web.guard import COOKIE, Guard
from idealrank.store.web.server import Serving
from tests.store.serve_samples import HOME, client

OWN = ["127.0.0.1", "127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8765"]
FOREIGN = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8765",
    "",
    "user@localhost",
    "localhost/x",
    "[::1",
    "localhost:99999",
    "192.168.0.7",
    "127.0.0.1#evil",
    "0.0.0.0",
]


@pytest.mark.parametrize("host", OWN)
def test_the_names_of_this_machine_are_answered(host: str) -> None:
    assert client().get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/", "/metrics", "/assets/page.js"])
def test_a_foreign_host_is_refused(host: str, path: str) -> None:
    answer = client().get(path, headers={"host": host})

    assert answer.status_code == 400
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_name_that_was_given_is_answered() -> None:
    guard = Guard(names=("Search.Example",))

    assert client(guard=guard).get("/", headers={"host": "search.example:8765"}).status_code == 200
    assert client(guard=guard).get("/", headers={"host": "other.example"}).status_code == 400


def test_on_the_network_addresses_are_answered_and_names_are_not() -> None:
    guard = Guard(host="0.0.0.0", token="secret")
    shown = {"authorization": "Bearer secret"}

    assert (
        client(guard=guard).get("/", headers={"host": "192.168.0.7:8765", **shown}).status_code
        == 200
    )
    assert (
        client(guard=guard).get("/", headers={"host": "evil.example", **shown}).status_code == 400
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:8765.evil.example",
        "file://",
        "http://[",
        "http://127.0.0.1:1",
    ],
)
def test_a_request_of_a_foreign_page_changes_nothing(method: str, origin: str) -> None:
    assert client().request(method, "/", headers={"origin": origin}).status_code == 403


def test_a_browser_that_names_no_origin_is_told_apart_by_its_fetch_metadata() -> None:
    assert client().post("/sign-in", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_pages_are_only_read() -> None:
    assert client().post("/", headers={"origin": HOME}).status_code == 405
    assert client().head("/").status_code == 200


def test_a_token_is_asked_for_and_remembered() -> None:
    asking = client(guard=Guard(host="0.0.0.0", token="s3cret"))

    assert asking.get("/").status_code == 401
    assert asking.get("/metrics").headers["www-authenticate"] == "Bearer"
    assert asking.get("/assets/page.js").status_code == 200
    assert asking.get("/", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert asking.get("/", headers={"authorization": "Bearer s3cret"}).status_code == 200
    assert asking.post("/sign-in", data={"token": "s3cre"}).status_code == 401
    signed = asking.post("/sign-in", data={"token": "s3cret"}, follow_redirects=False)
    assert signed.status_code == 303
    assert "HttpOnly" in signed.headers["set-cookie"]
    assert "s3cret" not in signed.headers["set-cookie"]
    assert asking.get("/").status_code == 200
    asking.cookies.clear()
    assert asking.get("/", headers=[(b"cookie", f"{COOKIE}=é".encode())]).status_code == 401


def test_a_token_that_is_no_ascii_is_taken_from_a_header_and_a_form() -> None:
    asking = client(guard=Guard(token="schlüssel"))

    assert (
        asking.get("/", headers={"authorization": "Bearer schlüssel".encode()}).status_code == 200
    )
    assert (
        asking.post("/sign-in", data={"token": "schlüssel"}, follow_redirects=False).status_code
        == 303
    )


def test_a_token_that_is_no_text_is_refused_at_the_start() -> None:
    with pytest.raises(OptionError, match=r"^token: found bytes that are no UTF-8, expected text"):
        Serving(token="s\udcff")


def test_without_a_token_nothing_signs_in() -> None:
    assert client().post("/sign-in", data={"token": ""}).status_code == 401


def test_a_long_form_is_refused() -> None:
    assert client(guard=Guard(token="x")).post("/sign-in", content=b"x" * 5000).status_code == 413


@pytest.mark.parametrize("path", ["/", "/metrics", "/nothing", "/assets/style.css"])
def test_every_answer_forbids_what_no_page_needs(path: str) -> None:
    headers = client().get(path).headers

    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert (
        headers["x-content-type-options"],
        headers["x-frame-options"],
        headers["referrer-policy"],
    ) == ("nosniff", "DENY", "same-origin")


def test_the_token_is_in_no_text_of_the_guard() -> None:
    assert "s3cret" not in repr(Guard(token="s3cret"))
