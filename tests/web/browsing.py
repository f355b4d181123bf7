"""A reader with a browser and no network: opens a file, notices everything a page must not do, and
asks axe-core about it.
"""

import importlib.resources
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Locator,
        LocatorAssertions,
        Page,
        Request,
    )

Found = TypeVar("Found")
Scheme = Literal["light", "dark"]
PATIENCE = 30_000  # milliseconds: a busy machine is no fault of the page
PHONE = (360, 740)
DESK = (1280, 900)
_LOCAL = ("file:", "data:", "blob:", "about:")
# A breach whose error is caught, as of `eval` in a `try`, is told to listeners only. Nor does a
# page tell what its view of a query keeps from query to query: texts in full, lower ranks, more
# runs.
_TELL = """addEventListener("securitypolicyviolation", event => {
  if (event.blockedURI === "eval") console.error(`breach of the policy: ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`);
});
addEventListener("click", event => {
  if (event.target.closest?.("[data-keep]")) globalThis.keepsChoices = true;
}, true);"""  # noqa: E501
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def chromium() -> str:
    """The browser's program; skips the test where there is none."""
    stated = os.environ.get("IDEALRANK_CHROMIUM")
    if stated:
        assert Path(stated).is_file(), f"IDEALRANK_CHROMIUM={stated}: no such file"
        return stated
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(
            "no Chromium on the PATH; on Debian: apt-get install --no-install-recommends "
            "chromium fonts-dejavu-core, "
            "or set IDEALRANK_CHROMIUM to the program"
        )
    return found


def launched() -> "Iterator[Browser]":
    """A browser, closed afterwards; skips the test where Playwright or the browser is absent."""
    sync_api = pytest.importorskip(
        "playwright.sync_api",
        reason="needs playwright: pip install playwright axe-playwright-python",
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=[
                "--no-sandbox",
                "--force-color-profile=srgb",
                "--disable-gpu",
                "--disable-gpu-compositing",
            ],
        )
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """Tabs of one window that go from page to page: a window for each page costs more than most
    tests of it.
    """

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._contexts: dict[bool, BrowserContext] = {}
        self._free: dict[bool, list[Page]] = {True: [], False: []}

    def take(self, *, javascript: bool) -> "Page":
        """An empty tab, with scripts or without."""
        if javascript not in self._contexts:
            self._contexts[javascript] = window(self._browser, java_script_enabled=javascript)
        free = self._free[javascript]
        return free.pop() if free else self._contexts[javascript].new_page()

    def has(self, page: "Page") -> bool:
        """Whether it is one of these tabs, and not a page with a window of its own."""
        return page.context in self._contexts.values()

    def give_back(self, page: "Page") -> None:
        """Empty a tab for the next to take it."""
        page.goto("about:blank")
        self._free[page.context is self._contexts.get(True)].append(page)


def window(browser: "Browser", **options: Any) -> "BrowserContext":
    """A window of its own, with a clipboard and without a network."""
    context = browser.new_context(
        offline=True, permissions=["clipboard-read", "clipboard-write"], **options
    )
    context.set_default_timeout(PATIENCE)
    context.add_init_script(_TELL)
    return context


class Visits:
    """Pages opened from files, without a network; `faults` says what any of them did that no page
    of ours may do.

    Those are: asking for anything that is not in the file, an error of a script, an error or a
    warning on the console (each breach of the page's own content policy is one), a dialogue, a
    second window. Without `tabs` each page has a window of its own.
    """

    def __init__(self, browser: "Browser", folder: Path, tabs: Tabs | None = None) -> None:
        self.faults: list[str] = []
        self.folder = folder
        self._browser = browser
        self._tabs = tabs
        self._opened: dict[Page, list[tuple[Any, Any]]] = {}  # with what listens to each
        self._files = 0

    def __call__(
        self,
        file: "str | Path",
        *,
        size: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        fragment: str = "",
        javascript: bool = True,
        reduced_motion: bool = True,
        **options: Any,
    ) -> "Page":
        """A page, loaded. `file` may be the text of the page itself; with `options` for
        Playwright's context it has a window of its own.

        Without motion, which a page of ours then leaves out, nothing that a test measures is still
        on its way.
        """
        path = file if isinstance(file, Path) else self._written(file)
        if self._tabs is None or options:
            page = window(self._browser, java_script_enabled=javascript, **options).new_page()
        else:
            page = self._tabs.take(javascript=javascript)
        self._opened[page] = self._watch(page)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(
            media="screen",
            color_scheme=scheme,
            reduced_motion="reduce" if reduced_motion else "no-preference",
        )
        page.mouse.move(0, 0)
        page.goto(path.resolve().as_uri() + fragment)
        return page

    def report(self, file: "str | Path", **options: Any) -> "Page":
        """A report whose tables are there: its plots are drawn when they come near."""
        page = ready(self(file, **options))
        assert not self.faults, "\n".join(self.faults)
        return page

    def _written(self, text: str) -> Path:
        self._files += 1
        path = self.folder / f"page-{self._files}.html"
        path.write_text(text, encoding="utf-8")
        return path

    def _watch(self, page: "Page") -> list[tuple[Any, Any]]:
        def asked(request: "Request") -> None:
            if not request.url.startswith(_LOCAL):
                self.faults.append(f"asked for {request.url}")

        def said(message: "ConsoleMessage") -> None:
            if message.type in {"error", "warning"}:
                self.faults.append(f"console {message.type}: {message.text}")

        listeners: list[tuple[Any, Any]] = [
            ("request", asked),
            ("console", said),
            ("popup", lambda other: self.faults.append(f"opened another page: {other.url}")),
            ("pageerror", lambda error: self.faults.append(f"error of a script: {error}")),
            ("websocket", lambda socket: self.faults.append(f"opened a socket to {socket.url}")),
            (
                "dialog",
                lambda dialog: (
                    self.faults.append(f"{dialog.type}: {dialog.message}"),
                    dialog.dismiss(),
                ),
            ),
        ]
        for event, listener in listeners:
            page.on(event, listener)
        return listeners

    def leave(self, page: "Page") -> None:
        """Close a page; its tab opens the next, unless the page did wrong."""
        for event, listener in self._opened.pop(page):
            page.remove_listener(event, listener)
        if self._tabs is None or not self._tabs.has(page):
            page.context.close()
        elif self.faults:
            page.close()
        else:
            self._tabs.give_back(page)

    def close(self) -> None:
        for page in list(self._opened):
            self.leave(page)


# What a test may have changed on a page of its own: what the view of a query keeps, what is open,
# the focus, the theme, the address. At the end nothing is on its way: no button says "Copied", and
# no plot that was drawn is drawn anew.
_AS_NEW = """async () => {
  const goTo = (address) => {
    history.replaceState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
  };
  if (globalThis.keepsChoices) {
    goTo(document.querySelector("#query-table [data-query]").hash);
    const kept = () => document.querySelector("#query-body [data-keep]:is([aria-pressed=true], :checked:enabled)");
    while (kept()) kept().click();
    globalThis.keepsChoices = false;
  }
  for (const open of document.querySelectorAll("dialog[open]")) {
    const told = new Promise((told) => open.addEventListener("close", told, { once: true }));
    open.close();
    await told; // the page answers first: it moves the focus
  }
  for (const open of document.querySelectorAll("details[open]")) open.open = false;
  document.activeElement?.blur();
  const theme = document.getElementById("theme");
  for (let press = 0; press < 3 && theme && theme.textContent !== "Theme: auto"; press += 1) theme.click();
  goTo(location.pathname);
  getSelection().removeAllRanges();
  scrollTo({ left: 0, top: 0, behavior: "instant" });
  const isDrawing = () => document.querySelector("figure[data-plot] .marks") && !document.documentElement.matches("[data-plots]");
  while (document.querySelector("[data-copied]") || isDrawing()) await new Promise((told) => setTimeout(told, 20));
}"""  # noqa: E501


_KEPT = 4  # pages open at a time: each has Vega


class Shared(Visits):
    """Reports that stay open from test to test, as new for each: to open one costs more than most
    tests of it.
    """

    def __init__(self, browser: "Browser", folder: Path, tabs: Tabs) -> None:
        super().__init__(browser, folder, tabs)
        self._pages: dict[tuple[str, tuple[int, int]], Page] = {}

    def report(
        self,
        file: "str | Path",
        *,
        size: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        **options: Any,
    ) -> "Page":
        """A report without a query, a filter or a choice, at its top."""
        assert not options, "a page of other options is not shared: use visit"
        key = (str(file), size)
        page = self._pages.pop(key, None) or super().report(file, size=size, scheme=scheme)
        self._pages[key] = page  # the last to go
        while len(self._pages) > _KEPT:
            longest_unused = next(iter(self._pages))
            self.leave(self._pages.pop(longest_unused))
        page.bring_to_front()
        page.emulate_media(media="screen", color_scheme=scheme)
        page.mouse.move(0, 0)
        page.evaluate(_AS_NEW)
        return page

    def forget(self) -> None:
        """Close all: after a fault nobody knows what a page is like."""
        self._pages.clear()
        self.close()
        self.faults.clear()


def expect(found: "Locator") -> "LocatorAssertions":
    """Claims about a part of a page, which may take their time to come true: Playwright looks until
    they are, as long as patience lasts.
    """
    from playwright import sync_api

    sync_api.expect.set_options(timeout=PATIENCE)
    return sync_api.expect(found)


def eventually(page: "Page", look: Callable[[], Found], is_right: Callable[[Found], bool]) -> Found:
    """What `look` finds once that is right; when patience ends whatever it finds then, for the test
    to compare.
    """
    found = look()
    for _ in range(PATIENCE // 50):
        if is_right(found):
            break
        page.wait_for_timeout(50)
        found = look()
    return found


# Functions below stand as functions in JavaScript, since text would be evaluated again and again
# within the page, which the policy of a report forbids.


def ready(page: "Page") -> "Page":
    """The report, once its tables are there or it says that they cannot be."""
    page.wait_for_selector("html[data-ready], #failed:not([hidden])", state="attached")
    return page


def drawn(page: "Page") -> "Page":
    """The report, once all its plots are drawn, for what is chosen."""
    page.wait_for_selector("html[data-plots]", state="attached")
    return page


def shows_query(page: "Page") -> "Locator":
    """The view of a query, once it is open: a link changes the address, and the page follows a
    moment later.
    """
    view = page.locator("#query-view[open]")
    view.locator(".query-headline").wait_for()
    return view


def pointed(page: "Page", drawing: "Locator", tip: "Locator") -> "Locator":
    """What a drawing says of its middle, with the pointer there: it moves until something is said,
    since a movement may come too early.
    """
    box = drawing.bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    moves = itertools.cycle((0, 1))

    def said() -> bool:
        page.mouse.move(middle[0] + next(moves), middle[1])
        return tip.is_visible()

    assert eventually(page, said, bool), "nothing is said"
    return tip


def closed(page: "Page") -> None:
    """Wait until nothing is open: a dialog closes first, and clears the address and moves the focus
    a moment later.
    """
    page.wait_for_function(
        "() => !document.querySelector('dialog[open]') && !/[#&]query=/.test(location.hash)"
    )


def follow(page: "Page", fragment: str) -> None:
    """Go to a fragment of the page, as if it were typed into the address, and wait until the page
    has been told.
    """
    page.evaluate(
        """fragment => new Promise(told => {
          addEventListener("hashchange", () => told(), { once: true });
          location.hash = fragment;
        })""",
        fragment,
    )


def copied(page: "Page", copy: Callable[[], object]) -> str:
    """What an action puts on the clipboard, once it is there."""
    page.evaluate("navigator.clipboard.writeText('what was there before')")
    copy()
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()) !== 'what was there before'"
    )
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def address(page: "Page") -> str:
    """The address as the page itself knows it: `page.url` is told later, by another process of the
    browser.
    """
    return page.evaluate("location.href")


@cache
def _axe() -> str:
    pytest.importorskip(
        "axe_playwright_python", reason="needs axe-core: pip install axe-playwright-python"
    )
    return (
        importlib.resources.files("axe_playwright_python")
        .joinpath("axe.min.js")
        .read_text(encoding="utf-8")
    )


def axe(page: "Page", *, within: str = "", **options: Any) -> str:
    """What axe-core finds wrong with a page for people who use it otherwise than most; empty where
    it is nothing.

    `within` is the selector of the part that is asked about; default all.

    The script comes in through the debugger, past the page's policy, which forbids scripts from
    elsewhere.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_axe())
    # Drawings are hidden from readers of the page: the figure around each says it in words, and
    # that is looked at.
    asked = {
        "include": [[within or "html"]],
        "exclude": [["figure svg[aria-hidden=true]"], ["figure [aria-hidden=true] svg"]],
    }
    found = page.evaluate(
        "([where, options]) => axe.run(where, options)",
        [asked, {"resultTypes": ["violations"], **options}],
    )
    return "\n".join(
        f"{violation['id']} ({violation['impact']}): {violation['help']}\n"
        + "\n".join(
            f"  {node['html'][:200]}\n    {node['failureSummary']}"
            for node in violation["nodes"][:5]
        )
        for violation in found["violations"]
    )


def sideways(page: "Page") -> int:
    """Pixels a page is wider than its window: 0 where nobody has to scroll sideways."""
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


def shot(page: "Page", name: str, folder: Path | None = None, **options: Any) -> None:
    """A picture to look at, in the folder IDEALRANK_SCREENSHOTS or the one that is named; none
    where neither is.
    """
    kept = os.environ.get("IDEALRANK_SCREENSHOTS") or folder
    if kept:
        page.screenshot(path=Path(kept, f"{name}.png"), animations="disabled", **options)
