"""Reads the text out of a page: a program of its own, which can be ended, as a thread cannot.

On standard input a line of JSON (url, charset, most) and the page; on standard output one JSON object, {"missing": why}
where it lacks a package.
"""

import json
import os
import resource
import sys
from urllib.parse import urldefrag, urljoin

SECONDS = 6
"""Of the processor; who started it waits for less by the clock."""

MEMORY = 700_000_000
"""Bytes of address space: a page of two megabytes makes trees of some hundred."""

MOST_LINKS = 400
LONGEST_TITLE = 200


def main() -> None:
    """Answer one page."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import trafilatura.core  # noqa: F401  while the page is still on its way
    except ImportError as error:
        sys.stdout.write(json.dumps({"missing": str(error)}))
        return

    told = json.loads(sys.stdin.buffer.readline())
    sys.stdout.write(json.dumps(read(sys.stdin.buffer.read(), **told)))


def read(page: bytes, url: str, charset: str, most: int) -> dict[str, object]:
    """Return title, date (as ISO 8601, or ""), text of up to `most` characters, links, and what of it was left out."""
    from trafilatura import bare_extraction, html2txt
    from trafilatura.utils import load_html

    page_text = decoded(page, charset)
    tree = load_html(page_text)
    if tree is None:
        return {"title": "", "date": "", "text": "", "links": [], "left_out": 0}
    links = links_of(tree, url)
    days = {"extensive_search": False, "original_date": True}
    found = bare_extraction(
        tree, url=url, with_metadata=True, include_comments=False, favor_recall=True, date_extraction_params=days
    )
    text = (getattr(found, "text", "") or html2txt(page_text) or "").strip()
    return {
        "title": (getattr(found, "title", "") or "")[:LONGEST_TITLE],
        "date": (getattr(found, "date", "") or "")[:10],
        "text": text[:most],
        "links": links,
        "left_out": max(0, len(text) - most),
    }


def decoded(page: bytes, charset: str) -> "str | bytes":
    """Return the page as text where its server named a charset that there is, else as it is: it may name its own."""
    if b"<html" not in page[:5_000].lower():  # without which lxml takes it for no document
        page = b"<html>" + page
    try:
        return page.decode(charset, "replace") if charset else page
    except (LookupError, ValueError):  # no charset, or one that makes no text of bytes
        return page


def links_of(tree: "object", url: str) -> "list[list[str]]":
    """Return the addresses that a page names with their texts, each once, in its order."""
    links: dict[str, str] = {}
    for anchor in tree.iter("a"):  # type: ignore[attr-defined]
        if len(links) == MOST_LINKS:
            break
        try:
            address = urldefrag(urljoin(url, (anchor.get("href") or "").strip())).url
        except ValueError:
            continue
        if address.startswith(("http://", "https://")) and len(address) <= 2_048 and address != url:
            words = " ".join("".join(anchor.itertext()).split())[:80]
            links[address] = links.get(address) or words
    return [[address, words] for address, words in links.items()]


if __name__ == "__main__":
    main()
