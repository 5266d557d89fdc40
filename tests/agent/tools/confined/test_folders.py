"""Files of allowed folders: pages of text in any encoding, large folders, and writing that loses nothing unsaid."""

import os
import stat
from itertools import count
from pathlib import Path

import pytest

from agent.errors import ToolFailed
from agent.tools.confined.folders import LISTED, PAGE, Folders
from agent.tools.confined.search import MOST_MATCHES, search
from agent.tools.confined.text import encoding_of

pytestmark = pytest.mark.shows("G6")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder


@pytest.fixture
def folders(papers: Path) -> Folders:
    return Folders([papers], {})


def whole(folders: Folders, path: str) -> str:
    """Read all pages."""
    text, start = "", 0
    while True:
        page = folders.read(path, start)
        text, start = text + page.text, page.end
        if page.end >= page.size:
            return text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "naïve 你好 🙂\n" * 3000),
        ("utf-8-sig", "naïve 你好\n" * 3000),
        ("utf-16", "naïve 你好 🙂\n" * 3000),
        ("utf-32", "naïve 你好\n" * 3000),
        ("gb18030", "今天的天气很好，我们去公园散步。\n" * 3000),
        ("big5", "今天的天氣很好，我們去公園散步。\n" * 3000),
        ("cp1252", "Grüße aus Köln, ein schöner Tag: 5 €\n" * 3000),
    ],
)
def test_text_of_any_usual_encoding_is_read_whole_page_by_page(
    folders: Folders, papers: Path, encoding: str, text: str
) -> None:
    (papers / "a.txt").write_bytes(text.encode(encoding))
    assert len(folders.read("papers/a.txt").text.encode(encoding)) <= PAGE + 8
    assert whole(folders, "papers/a.txt") == text
    assert folders.read("papers/a.txt").encoding.is_guessed is (encoding in ("gb18030", "big5", "cp1252"))


def test_an_empty_file_is_text_and_a_picture_is_not(folders: Folders, papers: Path) -> None:
    (papers / "empty.txt").touch()
    page = folders.read("papers/empty.txt")
    assert (page.text, page.end, page.size) == ("", 0, 0)
    assert not encoding_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").name
    assert not encoding_of(bytes(range(1, 256))).name


def test_reading_behind_the_end_ends(folders: Folders, papers: Path) -> None:
    (papers / "a.txt").write_text("short")
    page = folders.read("papers/a.txt", 10_000)
    assert (page.text, page.end) == ("", 5)


def test_a_folder_with_many_files_is_told_in_pages(folders: Folders, papers: Path) -> None:
    for number in range(3 * LISTED + 7):
        (papers / f"{number:04}.txt").touch()
    (papers / ".hidden").touch()
    names: list[str] = []
    while (listing := folders.list("papers", len(names))).entries:
        assert len(listing.entries) <= LISTED
        names += [each.name for each in listing.entries]
    assert names == [f"{number:04}.txt" for number in range(3 * LISTED + 7)]
    assert listing.total == len(names)


def test_a_name_is_found_as_it_was_told_whatever_bytes_it_has(folders: Folders, papers: Path) -> None:
    Path(os.fsdecode(os.fsencode(papers) + b"/caf\xe9.txt")).write_text("latin")
    (papers / "cafe\u0301s.txt").write_text("decomposed")  # as macOS writes it
    names = [each.name for each in folders.list("papers").entries]
    assert [folders.read(f"papers/{name}").text for name in names] == ["decomposed", "latin"]
    assert "caf\u00e9s.txt" in names


def test_a_new_file_is_not_put_over_another(folders: Folders, papers: Path) -> None:
    assert folders.write("papers/notes/2026/a.txt", "one\n", "new") == 4
    with pytest.raises(ToolFailed, match=r"a file named a\.txt already"):
        folders.write("papers/notes/2026/a.txt", "two\n", "new")
    folders.write("papers/notes/2026/a.txt", "two\n", "append")
    assert (papers / "notes/2026/a.txt").read_text() == "one\ntwo\n"
    for how in ("append", "replace"):
        with pytest.raises(ToolFailed, match="write it as new"):
            folders.write("papers/absent.txt", "x", how)


def test_what_is_replaced_is_kept_once(folders: Folders, papers: Path) -> None:
    (papers / "a.txt").write_text("first")
    assert not folders.has_copy("papers/a.txt")
    folders.write("papers/a.txt", "second", "replace")
    assert (papers / "a.txt~").read_text() == "first"
    assert folders.has_copy("papers/a.txt"), "the next one loses the first: who asks first is told so"
    folders.write("papers/a.txt", "third", "replace")
    assert [(papers / name).read_text() for name in ("a.txt", "a.txt~")] == ["third", "second"]
    assert sorted(each.name for each in papers.iterdir()) == ["a.txt", "a.txt~"]


def test_who_reads_meanwhile_has_the_old_one_whole(folders: Folders, papers: Path) -> None:
    (papers / "a.txt").write_text("first")
    with (papers / "a.txt").open() as reading:
        folders.write("papers/a.txt", "second", "replace")
        assert reading.read() == "first"


def test_a_copy_that_cannot_be_kept_leaves_the_file_as_it_was(folders: Folders, papers: Path) -> None:
    (papers / "a.txt").write_text("first")
    (papers / "a.txt~").mkdir()
    with pytest.raises(ToolFailed, match="was not written"):
        folders.write("papers/a.txt", "second", "replace")
    assert (papers / "a.txt").read_text() == "first"
    assert sorted(each.name for each in papers.iterdir()) == ["a.txt", "a.txt~"]


def test_nothing_is_appended_to_what_is_no_utf8(folders: Folders, papers: Path) -> None:
    (papers / "a.txt").write_bytes("Grüße".encode("cp1252"))
    with pytest.raises(ToolFailed, match="cp1252"):
        folders.write("papers/a.txt", "x", "append")


def test_those_who_use_the_folder_may_read_what_is_written(folders: Folders, papers: Path) -> None:
    papers.chmod(0o2770)
    before = os.umask(0o077)
    try:
        folders.write("papers/inner/a.txt", "x", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((papers / "inner").stat().st_mode) == 0o2770
    assert stat.S_IMODE((papers / "inner/a.txt").stat().st_mode) == 0o660
    (papers / "inner/a.txt").chmod(0o640)
    folders.write("papers/inner/a.txt", "y", "replace")
    assert stat.S_IMODE((papers / "inner/a.txt").stat().st_mode) == 0o640


def test_words_are_found_in_names_and_lines(folders: Folders, papers: Path) -> None:
    (papers / "Insurance").mkdir()
    (papers / "Insurance/car.txt").write_text("one\nThe CAR policy is number 1234\n")
    (papers / "策.txt").write_text("汽车保险\n")
    found = search(folders, "car policy")
    assert [(each.path, each.line) for each in found.matches] == [("papers/Insurance/car.txt", 2)]
    assert [each.path for each in search(folders, "insurance").matches] == ["papers/Insurance/car.txt"]
    assert [each.path for each in search(folders, "保险").matches] == ["papers/策.txt"]
    assert search(folders, "absent").is_whole


def test_a_search_ends_in_time_and_with_a_bounded_answer(folders: Folders, papers: Path) -> None:
    for number in range(100):
        (papers / f"{number}.txt").write_text("word\n" * 10)
    assert len(search(folders, "word").matches) == MOST_MATCHES
    seconds = count()
    found = search(folders, "absent", clock=lambda: float(next(seconds)))
    assert found.files < 10
    assert not found.is_whole


def test_two_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for place in ("a/papers", "b/papers"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "who.txt").write_text(place)
    folders = Folders([tmp_path / "a/papers", tmp_path / "b/papers"], {})
    assert [each.name for each in folders.list("").entries] == ["papers", "papers'"]
    assert folders.read("papers'/who.txt").text == "b/papers"


def test_a_folder_that_is_gone_is_one_sentence(folders: Folders, papers: Path) -> None:
    papers.rmdir()
    assert folders.trouble("papers") == ("absent", "")
    with pytest.raises(ToolFailed, match=r"papers cannot be used \(no such file or directory\)"):
        folders.list("papers")
