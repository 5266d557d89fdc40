"""The documents hold together: every page is near, no link is dead, and what they name is in the repository."""

import re
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.architecture import configuration_page, decisions, documents, module_tree, protocol
from tests.architecture.documents import FRONT, anchors, links, pages, prose, spans, text
from tests.architecture.source import ROOT, files

MANUAL = Path("docs/manual.md")
ELSEWHERE = re.compile(r"\b(FACTS|DESIGN|FEATURES)\b|\bseeds/|\bspec/|\.\./shared\b|/work/")
"""Documents and folders that were at hand when this was written, and are not in the repository."""
QUOTED = {Path("tests/architecture/test_documents.py"), Path("tests/audio/spoken.py")}
"""Files that may name them: this one, and the one that looks for recordings beside the clone and skips without."""
NAMED = re.compile(r"^ *(?:(?:async )?def|class) (\w+)", re.MULTILINE)
"""The name of a function or class, where it is made."""
SIZE = 12_000
"""Bytes of README at most: a front page."""
DECISION = 4_000
"""Bytes of a decision at most; half of that is the aim."""


def test_readme_is_a_front_page() -> None:
    assert len((ROOT / FRONT).read_bytes()) <= SIZE


def test_a_number_that_was_measured_stands_in_the_figures_only() -> None:
    """What a benchmark does not write, nobody keeps true."""
    sentences = re.sub(r"<!-- figures -->.*?<!-- /figures -->", "", prose(FRONT), flags=re.DOTALL)
    assert re.findall(r"\d[\d.,]* ?(?:ms|s|MB|GB|%|×|seconds|minutes)\b", sentences) == []


def test_every_page_is_two_clicks_away() -> None:
    first = {path for path, _ in links(FRONT)}
    second = {path for page in first & set(pages()) for path, _ in links(page)}
    assert set(pages()) - {FRONT} - first - second == set()


@pytest.mark.parametrize("page", pages(), ids=str)
def test_no_link_is_dead(page: Path) -> None:
    dead = [f"{path}#{anchor}" for path, anchor in links(page) if not leads_somewhere(path, anchor)]
    assert dead == []


def leads_somewhere(path: Path, anchor: str) -> bool:
    """Say whether a link's file is in the repository, and has the heading."""
    return (path in files() or any(path in each.parents for each in files())) and (
        not anchor or anchor in anchors(path)
    )


@pytest.mark.parametrize("page", pages(), ids=str)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    tops = {path.parts[0] for path in files() if len(path.parts) > 1}
    names = {path.name for path in files()}
    missing = [
        span
        for span in spans(page)
        for word in re.findall(r"[\w./-]+", span)[:1]
        if (word.split("/")[0] in tops and "/" in word and not is_file(word))
        or (re.fullmatch(r"\w+\.py", word) and word not in names)
    ]
    assert missing == []


def is_file(word: str) -> bool:
    """Say whether something is a file or folder of the repository, or a module without its .py."""
    path = word.rstrip("/.")
    return (ROOT / path).exists() or (ROOT / f"{path}.py").exists() or path.startswith(".venv")


def test_modules_that_a_page_names_are_there() -> None:
    named = {
        (page, module)
        for page in pages()
        for module in re.findall(r"python -m ([\w.]+)", text(page))
        if module.split(".")[0] in {path.parts[0] for path in files("*.py")}
    }
    assert [each for each in named if not is_file(each[1].replace(".", "/").removesuffix("/NAME"))] == []
    assert named


def test_nothing_refers_to_what_is_not_in_the_repository() -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in files()
        if path not in QUOTED and path.suffix in {".py", ".md", ".toml", ".sh", ".service", ".yaml", ""}
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if ELSEWHERE.search(line)
    ]
    assert found == []


def test_documents_call_it_nakari_or_it() -> None:
    found = [
        f"{page}: {line}"
        for page in pages()
        for line in text(page).splitlines()
        if re.search(r"\b(she|her|hers|herself)\b", line, re.IGNORECASE)
    ]
    assert found == []


def test_names_in_the_code_call_it_nakari_or_it() -> None:
    found = [
        f"{path}: {name}"
        for path in files("*.py")
        for name in NAMED.findall((ROOT / path).read_text(encoding="utf-8"))
        if {"she", "her", "hers", "herself"} & set(name.lower().split("_"))
    ]
    assert found == []


def test_the_tree_is_the_modules_own_first_lines() -> None:
    written = module_tree.in_page().splitlines()
    assert written == list(module_tree.lines()), "run: python -m tests.architecture.module_tree"


def test_every_decision_is_listed_by_its_heading() -> None:
    assert decisions.PAGE.read_text(encoding="utf-8") == decisions.page(), "run: python -m tests.architecture.decisions"


def test_a_decision_is_short_and_its_file_is_named_by_its_topic() -> None:
    for record in sorted(decisions.FOLDER.glob("[0-9]*.md")):
        assert len(record.read_bytes()) <= DECISION, record
        assert re.fullmatch(r"\d{4}(-[a-z0-9]+){1,7}\.md", record.name)


def test_the_schema_and_the_types_of_the_streams_are_made_from_their_models() -> None:
    for path, made in protocol.pages().items():
        assert path.read_text(encoding="utf-8") == made, "run: python -m tests.architecture.protocol"


def test_the_configuration_page_is_the_sections_own_words() -> None:
    written = configuration_page.PAGE.read_text(encoding="utf-8")
    assert written == configuration_page.page(), "run: python -m tests.architecture.configuration_page"


def test_every_exit_code_is_in_the_manual() -> None:
    table = text(MANUAL).partition("## Exit codes")[2].partition("\n## ")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} >= {int(code) for code in Exit}


def test_every_command_is_in_the_manual_and_every_command_there_exists() -> None:
    named = set(re.findall(r"`nakari ([a-z]\w*)", prose(MANUAL)))
    assert named == documents.shown_commands()


def test_the_checks_can_fail() -> None:
    assert not leads_somewhere(Path("docs/nowhere.md"), "")
    assert not leads_somewhere(MANUAL, "no-such-heading")
    assert ELSEWHERE.search("as DESIGN says")
    assert list(documents.programs("sudo a 'b c' >/x | tee y && d # e")) == [("a", "b c"), ("tee", "y"), ("d",)]
    assert list(documents.usages("nakari memory a|b [--x Y \\| --z]")) == [
        ("nakari", "memory", "a", "--x", "Y", "--z"),
        ("nakari", "memory", "b", "--x", "Y", "--z"),
    ]
