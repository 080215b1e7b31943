"""A headless Chromium for the page's tests: nothing of the network, nothing left running."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str:
    """Where Chromium is; skips the test with a sentence where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"There is no {', '.join(NAMES[:-1])} or {NAMES[-1]} on this machine to open the page with.")
    return found


@contextmanager
def chromium() -> Iterator:
    """A browser that is closed at the end."""
    path = executable()
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: run ./run_tests.sh.")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a local server of a folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Watched:
    """A page of the browser with what it complained of and asked for."""

    def __init__(self, browser, **options) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", self._failed)

    def _failed(self, request) -> None:
        # A picture that is still on its way when the test opens another address is called off, which is no failure.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.url} {request.failure}")

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error) -> None:
        self.context.close()

    def open(self, address: str) -> None:
        """Open an address anew and wait until the form is ready."""
        self.page.goto("about:blank")
        self.page.goto(address)
        self.page.wait_for_function("document.querySelectorAll('#stand-population option').length > 0")
