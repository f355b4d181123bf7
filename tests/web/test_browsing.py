"""The reader that other tests rely on notices what it says it notices."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.browsing import DESK, PHONE, Tabs, Visits, axe, eventually, shot, sideways

if TYPE_CHECKING:
    from playwright.sync_api import Browser

POLICY = (
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src "
    "'unsafe-inline'\">"
)


def plain(body: str, head: str = "") -> str:
    head = f"<meta charset=utf-8><title>A page</title>{head}"
    return (
        f"<!DOCTYPE html><html lang=en><head>{head}</head><body><main><h1>A "
        f"page</h1>{body}</main></body></html>"
    )


MISDEEDS = {
    "<img alt='' src='http://127.0.0.1:9/x.png'>": "asked for http://127.0.0.1:9/x.png",
    "<script>fetch('https://example.org/').catch(() => 0)</script>": "asked for https://example.org/",
    "<script>throw new Error('oh')</script>": "error of a script: oh",
    "<script>console.error('bad')</script>": "console error: bad",
    "<script>console.warn('hm')</script>": "console warning: hm",
    "<script>alert('boo')</script>": "alert: boo",
    "<script>new WebSocket('ws://127.0.0.1:9/')</script>": "opened a socket to ws://127.0.0.1:9/",
}
BREACHES = {
    "<script>try { eval('1') } catch (refused) {}</script>": "breach of the policy: eval",
    "<script src='x.js'></script>": "Loading the script",
    "<img alt='' src='x.png'>": "Loading the image",
    "<p style='color: red'>red</p>": "inline style",
}


@pytest.mark.parametrize(
    ("head", "deeds"),
    [("", MISDEEDS), (POLICY, BREACHES)],
    ids=["misdeeds", "breaches of the policy"],
)
def test_what_no_page_may_do_is_noticed(visits: Visits, head: str, deeds: dict[str, str]) -> None:
    page = visits(plain("".join(deeds), head))

    def missing() -> list[str]:
        noticed = "\n".join(visits.faults)
        return [fault for fault in deeds.values() if fault not in noticed]

    # A socket is announced by another process of the browser, whenever that has time.
    assert eventually(page, missing, lambda found: not found) == []


@pytest.mark.slow
def test_a_second_window_is_noticed(visits: Visits) -> None:
    page = visits(plain("<a href='about:blank' target='_blank'>elsewhere</a>"))

    page.get_by_role("link").click()

    assert eventually(page, lambda: visits.faults, bool) == ["opened another page: about:blank"]


@pytest.mark.slow
def test_the_next_page_of_a_tab_knows_nothing_of_the_one_before(
    browser: "Browser", tmp_path: Path
) -> None:
    tabs = Tabs(browser)
    first, second = Visits(browser, tmp_path, tabs), Visits(browser, tmp_path, tabs)
    tab = first(
        plain("<script>window.left = 1; document.cookie = 'left=1';</script>"),
        size=PHONE,
        scheme="dark",
    )
    first.close()

    page = second(plain("<script>console.error('bad')</script>"))

    assert page is tab
    assert page.evaluate(
        "[window.left, document.cookie, innerWidth, matchMedia('(prefers-color-scheme: "
        "dark)').matches]"
    ) == [
        None,
        "",
        DESK[0],
        False,
    ]
    assert eventually(page, lambda: second.faults, bool) == ["console error: bad"]
    assert first.faults == []
    second.close()
    assert page.is_closed()  # after a fault nobody knows what it is like


@pytest.mark.slow
def test_a_page_that_keeps_to_itself_has_no_faults(visit: Visits) -> None:
    image = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    page = visit(
        plain(
            f"<img alt='dot' src='{image}'><script>URL.createObjectURL(new Blob(['x']))</script>"
        ),
        scheme="dark",
    )

    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert axe(page) == ""


@pytest.mark.slow
def test_a_page_reaches_no_server_even_where_one_answers(visits: Visits) -> None:
    came: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.path)
            self.send_response(204)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        page = visits(plain(""))
        address = f"http://127.0.0.1:{server.server_port}/x"
        answer = page.evaluate(
            "address => fetch(address, {mode: 'no-cors'}).then(() => 'answered', () => 'refused')",
            address,
        )
        server.shutdown()

    assert (answer, came) == ("refused", [])
    assert f"asked for {address}" in eventually(page, lambda: visits.faults, bool)


@pytest.mark.slow
def test_axe_says_which_element_keeps_whom_out(visit: Visits) -> None:
    page = visit(plain("<p style='color:#999;background:#fff'>faint</p><button></button>"))

    said = axe(page)

    assert "color-contrast (serious)" in said
    assert "faint" in said
    assert "button-name (critical)" in said


@pytest.mark.slow
def test_a_page_wider_than_a_phone_is_measured(visit: Visits) -> None:
    assert sideways(visit(plain("<div style='width:900px'>wide</div>"), size=PHONE)) > 500
    page = visit(
        plain("<div style='overflow-x:auto'><div style='width:900px'>wide</div></div>"), size=PHONE
    )
    assert sideways(page) == 0


@pytest.mark.slow
def test_pictures_are_kept_where_that_is_asked_for(
    visit: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALRANK_SCREENSHOTS", str(visit.folder))
    shot(visit(plain("a page")), "seen")
    monkeypatch.delenv("IDEALRANK_SCREENSHOTS")
    shot(visit(plain("a page")), "not seen")
    assert [path.name for path in visit.folder.glob("*.png")] == ["seen.png"]
