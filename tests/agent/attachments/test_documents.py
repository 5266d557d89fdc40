"""Documents as text, read in a child process: the kinds, the bounds, and hostile ones, each with its outcome."""

from collections.abc import Callable

import pytest

from agent.attachments.documents import MOST_BYTES, read_document
from agent.errors import NotAttached
from tests.agent.files import docx, odt, packed, pdf

pytestmark = pytest.mark.shows("G17")


@pytest.mark.parametrize(
    ("content", "kind", "extent"),
    [
        (pdf("The plums are in the bowl."), "application/pdf", "1 page"),
        (pdf("The plums", "are in the bowl."), "application/pdf", "2 pages"),
        (docx(["The plums", "are in the bowl."]), "application/vnd.openxmlformats", ""),
        (odt(["The plums", "are in the bowl."]), "application/vnd.oasis", ""),
        (b"<!DOCTYPE html><p>The plums<script>evil()</script> are<p>in the bowl.", "text/html", ""),
        (b"The plums\r\nare in the bowl.", "text/plain", ""),
        ("The plums are in the bowl.".encode("utf-16"), "text/plain", ""),
        ("The plums are in the bowl.".encode("utf-16-le"), "text/plain", ""),
    ],
)
async def test_a_document_becomes_its_words(content: bytes, kind: str, extent: str) -> None:
    found = await read_document("a", content)
    assert found.text.split() == ["The", "plums", "are", "in", "the", "bowl."]
    assert found.media_type.startswith(kind)
    assert (found.extent, found.name) == (extent, "a")


async def test_a_long_document_is_cut_and_says_so() -> None:
    found = await read_document("long.txt", "鸡".encode() * 50_000, most=1_000)
    assert (len(found.text), found.extent) == (1_000, "its first 1000 characters")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (lambda: packed({"word/document.xml": bytes(300_000_000)}), "unpacks to more than 20 MB of text"),
        (packed({"evil.exe": b"MZ"}), "is an archive, or a kind of office document that cannot be read"),
        (b"PK\3\4 torn", "is damaged: it breaks off"),
        (pdf("one", claimed=1_000_000), "has 1000000 pages; attach the part that is meant"),
        (b"%PDF-1.4 torn", "is damaged, and cannot be read"),
        (pdf(""), "holds no text that can be read; attach pictures of its pages instead"),
        (b"   \n ", "holds no text that can be read"),
        (bytes(range(256)), "is neither an image"),
        (lambda: bytes(MOST_BYTES + 1), "has 20.0 MB; a document may have 20: attach a part"),
    ],
    ids=["zip bomb", "archive", "torn zip", "million pages", "torn PDF", "scanned PDF", "blank", "binary", "too large"],
)
async def test_what_cannot_be_read_is_one_sentence(content: bytes | Callable[[], bytes], why: str) -> None:
    """What is large is made here, and not where each process of the suite collects its tests."""
    with pytest.raises(NotAttached, match=f"^the file {why}"):
        await read_document("the file", content if isinstance(content, bytes) else content())


async def test_entities_that_multiply_are_refused_before_they_are_read() -> None:
    laughs = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><d>&b;</d>'
    with pytest.raises(NotAttached, match="is no document that an office program wrote"):
        await read_document("a.docx", packed({"word/document.xml": laughs}))


async def test_a_pdf_whose_pages_are_their_own_parents_ends_in_a_sentence() -> None:
    looped = pdf("one").replace(b"/Kids[4 0 R]", b"/Kids[2 0 R]")
    with pytest.raises(NotAttached, match=r"looped\.pdf"):
        await read_document("looped.pdf", looped)
