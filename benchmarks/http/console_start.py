"""How long the console takes on a slow phone until it can be used, against a page without a script; its weight."""

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fastapi import Response
from playwright.sync_api import Browser, sync_playwright

from appliance.http.page import FOLDER as BUILT
from benchmarks.figure import Figure, Series, run
from tests.console.door import ScriptedDoor, serving

SHOWS = ("F24",)

SLOWER: Final = 6
"""How much slower Chromium lets the processor be: a laptop's becomes a cheap phone's."""

TIMES: Final = 15

USABLE: Final = """
  new MutationObserver((_, observer) => {
    const field = document.querySelector('textarea')
    if (!field || !document.querySelector('[data-testid=state], [data-bare]')) return
    observer.disconnect()
    setTimeout(() => (window.usableAfter = performance.now()))
  }).observe(document, {childList: true, subtree: true, attributes: true})
"""
"""Notes when there is a field to write in, the state of the appliance beside it, and the main thread free again."""

BARE: Final = '<!doctype html><title>bare</title><p data-bare>Listening</p><textarea aria-label="Write"></textarea>'


def measure(*, quick: bool = False) -> Figure:
    """Open the console and the bare page in turn, each in a fresh profile, on a slowed processor."""
    times = 1 if quick else TIMES
    door = ScriptedDoor()
    door.app.add_api_route("/bare", lambda: Response(BARE, media_type="text/html"))
    with serving(door) as address, chromium() as browser:
        opened = [(milliseconds(browser, address), milliseconds(browser, f"{address}bare")) for _ in range(times)]
    ours, bare = zip(*opened, strict=True)
    return Figure(
        "Console, until it can be used",
        Series(f"connected, on a processor {SLOWER} times slower, nothing kept from before", "ms", ours),
        Series("a page of two elements without a script", "ms", bare),
        (weights(),),
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless Chromium, and close it in the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


def milliseconds(browser: Browser, address: str) -> float:
    """Return after how many milliseconds of its navigation a page can be used."""
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(USABLE)
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(address, timeout=120_000)
        page.wait_for_function("() => window.usableAfter")  # an expression is evaluated again, which the page forbids
        return float(page.evaluate("window.usableAfter"))


def weights() -> str:
    """Return what is fetched of the page before a view is opened, with each, and in all, as gzip."""
    index = (BUILT / "index.html").read_text(encoding="utf-8")
    first = {BUILT / "index.html", *(BUILT / name for name in re.findall(r'(?:src|href)="\./(assets/[^"]+)"', index))}
    rest = sorted({*BUILT.glob("assets/*")} - first, key=weight, reverse=True)
    whole = sum(map(weight, [*first, *rest]))
    largest = ", ".join(f"{file.name.partition('-')[0]} {kilobytes(weight(file))}" for file in rest[:6])
    return (
        f"compressed, {kilobytes(sum(map(weight, first)))} kB come first, {kilobytes(whole)} kB are there in all; "
        f"when they are needed: {largest}"
    )


def weight(file: Path) -> int:
    """Return how many bytes of a file are sent."""
    return len(gzip.compress(file.read_bytes()))


def kilobytes(count: int) -> str:
    """Return bytes as kB, to one place."""
    return f"{count / 1000:.1f}"


if __name__ == "__main__":
    run(measure)
