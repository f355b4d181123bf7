"""A browser before the served pages, which a server in a thread answers; a request to anywhere else
is a fault.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from idealrank.store.web.application import application
from idealrank.store.web.guard import Guard
from idealrank.store.web.site import StoreFolder
from tests.web import browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from starlette.types import ASGIApp


def server(folder: Path | None, guard: Guard | None = None) -> AbstractContextManager[str]:
    """Serve a store on a free port; its address."""
    return serving(application(StoreFolder(folder), guard or Guard()))


@contextmanager
def serving(app: "ASGIApp") -> Iterator[str]:
    """Serve an application on a free port; its address."""
    running = uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", lifespan="off", ws="none", timeout_graceful_shutdown=1
        )
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        while not running.started:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()


class Served:
    """Pages of a store in a window of their own; `faults` says what any of them did that no page of
    ours may do.
    """

    def __init__(self, context: "BrowserContext", home: str) -> None:
        self.faults: list[str] = []
        self.asked: list[str] = []
        self._home, self._context = home, context

    def _request(self, url: str) -> None:
        self.asked.append(url.removeprefix(self._home))
        if not url.startswith((self._home, "data:")):
            self.faults.append(f"asked for {url}")

    def page(
        self, path: str, *, size: tuple[int, int] = browsing.DESK, scheme: browsing.Scheme = "light"
    ) -> "Page":
        """Open a page, which has to keep its own policy."""
        page = self._context.new_page()
        page.on("request", lambda request: self._request(request.url))
        page.on(
            "console",
            lambda said: (
                self.faults.append(f"console {said.type}: {said.text}")
                if said.type in {"error", "warning"}
                else None
            ),
        )
        page.on("pageerror", lambda error: self.faults.append(f"error of a script: {error}"))
        page.on(
            "dialog",
            lambda dialog: (
                self.faults.append(f"{dialog.type}: {dialog.message}"),
                dialog.dismiss(),
            ),
        )
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(media="screen", color_scheme=scheme, reduced_motion="reduce")
        page.goto(self._home + path)
        return page


@contextmanager
def window(browser: "Browser", home: str, **options: Any) -> Iterator[Served]:
    """Open pages of a server, and refuse at the end what any page did wrong."""
    context = browser.new_context(**options)
    context.set_default_timeout(browsing.PATIENCE)
    pages = Served(context, home)
    try:
        yield pages
    finally:
        context.close()
    assert not pages.faults, "\n".join(pages.faults)
