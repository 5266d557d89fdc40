"""A headless Chromium for the tests of the page: one a file, with one tab in which nothing is kept between tests."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.console.door import SECONDS, ScriptedDoor, bound, serving
from tests.needs import browser as reason_without_browser

CHROMIUM = "/usr/bin/chromium"

FLAGS = ("--no-sandbox", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--mute-audio")


@pytest.fixture(scope="module")
def flags() -> tuple[str, ...]:
    """What Chromium is started with; a file that needs more has its own."""
    return FLAGS


@pytest.fixture(scope="module")
def browser(flags: tuple[str, ...]) -> Iterator[Browser]:
    if reason := reason_without_browser():
        pytest.skip(reason)
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture
def door() -> ScriptedDoor:
    return ScriptedDoor()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A port kept for all tests of a file: what the page's program is, its tab then reads and compiles once."""
    with bound() as kept:
        yield kept.getsockname()[1]


@pytest.fixture
def address(door: ScriptedDoor, port: int) -> Iterator[str]:
    with serving(door, port) as served:
        yield served


def new_context(browser: Browser) -> BrowserContext:
    made = browser.new_context(locale="en-GB", reduced_motion="reduce", viewport={"width": 1280, "height": 800})
    made.set_default_timeout(SECONDS * 1000)
    return made


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A profile of the test's own, for what stays with one: a clock, scripts, what is routed."""
    made = new_context(browser)
    yield made
    made.close()


@pytest.fixture(scope="module")
def file_tab(browser: Browser) -> Iterator[Page]:
    """One tab for all tests of a file: a new one costs twice what the page itself does."""
    context = new_context(browser)
    yield context.new_page()
    context.close()


@pytest.fixture
def tab(file_tab: Page) -> Iterator[Page]:
    """The file's tab, in which nothing is kept of the test before."""
    file_tab.context.clear_cookies()
    yield file_tab
    file_tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    file_tab.goto("about:blank")  # or it would look for a door that is closed, while the next test listens


@pytest.fixture
def page(tab: Page, address: str) -> Iterator[Page]:
    """The page, opened and connected; a complaint in its console, or a request to elsewhere, fails the test."""
    with watched(tab, address) as opened:
        yield opened


@pytest.fixture
def own_page(context: BrowserContext, address: str) -> Iterator[Page]:
    """Such a page in a profile of the test's own."""
    with watched(context.new_page(), address) as opened:
        yield opened


@contextmanager
def watched(opened: Page, address: str) -> Iterator[Page]:
    """Open the page and listen to what it complains of until the end of the block."""
    complaints: list[str] = []
    listeners = {
        "console": lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None,
        "request": lambda asked: None if asked.url.startswith(address) else complaints.append(asked.url),
        "pageerror": lambda error: complaints.append(str(error)),
    }
    for event, listener in listeners.items():
        opened.on(event, listener)  # type: ignore[call-overload]  # one overload for each event's name
    opened.goto(address)
    expect(opened.get_by_test_id("state")).to_have_attribute("data-state", "listening")
    yield opened
    for event, listener in listeners.items():
        opened.remove_listener(event, listener)
    serious = [line for line in complaints if not line.startswith(EXPECTED)]
    assert serious == []


EXPECTED = ("WebSocket connection to", "Failed to load resource")
"""What Chromium itself writes about a connection that was lost on purpose."""
