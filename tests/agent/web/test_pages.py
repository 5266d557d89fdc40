"""Pages as text: what is read of good ones, and how a hostile one ends."""

import sys

import pytest

from agent.errors import ToolFailed
from agent.web.pages import MOST_TEXT, PageReader
from tests.agent.web.web_server import Answer, WebServer, page

ARTICLE = """<!DOCTYPE html><html lang="en"><head><title>Agents that remember | The Daily</title>
<meta property="article:published_time" content="2025-11-02T08:00:00Z">
<meta property="og:title" content="Agents that remember"></head><body>
<nav><a href="/">Home</a> <a href="/contact">Contact</a> <a href="javascript:alert(1)">Click</a></nav>
<article><h1>Agents that remember</h1>
<p>The trend of the year 2025 is agents that remember what they were told, as several laboratories say in reports.</p>
<p>They keep it in graphs, which they write themselves, and they look there before they answer anybody at all.</p>
<p>See <a href="https://other.test/report?id=7#top">the report</a> for the figures of all of them in one table.</p>
</article><footer>Copyright, imprint, cookies</footer></body></html>"""


def reader(server: WebServer, seconds: float = 30.0) -> PageReader:
    return PageReader("nakari/test", server.guard(page_test=server.host), seconds)


@pytest.mark.shows("F9")
async def test_the_text_of_an_article_its_title_its_date_and_its_links_are_read() -> None:
    async with WebServer({"/a": Answer(ARTICLE.encode())}) as server:
        found = await reader(server).read(f"http://page.test:{server.port}/a")
    root = f"http://page.test:{server.port}"
    assert found.text.startswith("Agents that remember\nThe trend of the year 2025")
    assert "cookies" not in found.text
    assert (found.title, found.date, found.url) == ("Agents that remember", "2025-11-02", f"{root}/a")
    assert found.links == (
        (f"{root}/", "Home"),
        (f"{root}/contact", "Contact"),
        ("https://other.test/report?id=7", "the report"),
    )
    assert not found.is_cut


@pytest.mark.shows("F9")
async def test_a_long_page_is_cut_to_what_a_model_is_given() -> None:
    words = "</p><p>".join(f"Sentence number {number} says something of its own." for number in range(2_000))
    async with WebServer({"/": page(words)}) as server:
        found = await reader(server).read(server.url)
    assert (len(found.text), found.is_cut) == (MOST_TEXT, True)


async def test_a_page_without_a_frame_and_a_plain_text_are_read_too() -> None:
    pages = {
        "/frameless": Answer(b"<p>" + b"Only a paragraph stands here. " * 20),
        "/plain": Answer("Grüße.".encode("latin-1"), headers={"Content-Type": "text/plain; charset=latin-1"}),
        "/feed": Answer(b'{"hello": 1}', headers={"Content-Type": "application/json"}),
    }
    async with WebServer({**pages}) as server:
        assert "Only a paragraph" in (await reader(server).read(f"{server.url}/frameless")).text
        assert (await reader(server).read(f"{server.url}/plain")).text == "Grüße."
        assert (await reader(server).read(f"{server.url}/feed")).text == '{"hello": 1}'


@pytest.mark.parametrize("charset", ["nonsense", "zlib_codec", "undefined", "utf-16"])
async def test_whatever_a_server_calls_its_charset_the_page_is_read_or_refused_in_words(charset: str) -> None:
    kind = f"text/html; charset={charset}"
    async with WebServer({"/": page("There is a word here. " * 20, headers={"Content-Type": kind})}) as server:
        assert await read_or_told(server)


HOSTILE = {
    "without end": b"<p><b>" * 300_000,
    "too many attributes": b"<p " + b" ".join(b"a%d=1" % number for number in range(190_000)) + b">x</p>",
}


@pytest.mark.shows("F9")
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
async def test_a_page_that_would_be_read_for_ever_is_given_up(body: bytes) -> None:
    """Outcome: one sentence, and the child that read it is gone."""
    async with WebServer({"/": Answer(body)}) as server:
        with pytest.raises(ToolFailed, match=r"reading it takes too long|cannot be read within bounds"):
            await reader(server, seconds=1.0).read(server.url)


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 200_000,
        b"<!--" * 1_000,
        b"\x00\xff" * 5_000,
        b"<!DOCTYPE x [<!ENTITY a 'xxxxxxxx'><!ENTITY b '&a;&a;&a;&a;'>]><p>&b;</p>",
        b"<script type='application/ld+json'>" + b"[" * 50_000 + b"</script>",
        b"",
    ],
)
async def test_a_page_that_is_garbage_is_short_or_has_no_text(body: bytes) -> None:
    async with WebServer({"/": Answer(body)}) as server:
        assert len(await read_or_told(server)) <= MOST_TEXT


async def read_or_told(server: WebServer) -> str:
    """Return the text of a page, or the sentence that there is none."""
    try:
        return (await reader(server).read(server.url)).text
    except ToolFailed as failed:
        assert "no text on that page" in str(failed)  # noqa: PT017  it is one or the other
        return str(failed)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(b"", 404), "there is no such page"),
        (Answer(b"", 403), "lets no programs in"),
        (Answer(b"", 429), "asked too often"),
        (Answer(b"", 500), "error 500"),
        (Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}), "no page but application/pdf"),
        (Answer(b"\x89PNG", headers={"Content-Type": "image/png"}), "no page but image/png"),
        (Answer(b"\x00\x01", headers={}), "something without a type"),
        (Answer(b"x", headers={"Content-Type": "unlock the door/now"}), "something without a type"),
    ],
)
async def test_what_is_no_page_is_told_in_a_sentence(answer: Answer, why: str) -> None:
    async with WebServer({"/": answer}) as server:
        with pytest.raises(ToolFailed, match=why):
            await reader(server).read(server.url)


async def test_a_missing_package_is_a_fault_of_the_installation_and_not_of_the_page() -> None:
    without_packages = (sys.executable, "-I", "-S")
    async with WebServer({"/a": Answer(ARTICLE.encode())}) as server:
        lacking = PageReader("nakari/test", server.guard(page_test=server.host), 30.0, without_packages)
        with pytest.raises(ToolFailed, match=r"installation cannot read pages \(No module named 'trafilatura'\): run"):
            await lacking.read(f"http://page.test:{server.port}/a")
