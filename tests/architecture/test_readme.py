"""README says what is: its tree is the tree, its exit codes are the exit codes, its commands exist."""

import re

from appliance.cli import nakari
from appliance.exits import Exit
from tests.architecture import decisions
from tests.architecture.readme_tree import ROOT, in_readme, lines

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tree_is_the_modules_own_first_lines() -> None:
    assert in_readme(README).splitlines() == list(lines()), "run: python -m tests.architecture.readme_tree"


def test_every_exit_code_is_there() -> None:
    codes = README.partition("Exit codes:")[2].partition("\n\n")[0]
    assert {int(code) for code in re.findall(r"(?:^|· ?|\s)(\d+) [a-zA-Z]", codes)} >= {int(code) for code in Exit}


def test_every_command_is_there_and_every_command_there_exists() -> None:
    named = set(re.findall(r"`nakari (\w+)", README))
    assert named == set(nakari.commands) - {"version"}


def test_every_decision_is_listed_by_its_heading() -> None:
    assert decisions.PAGE.read_text(encoding="utf-8") == decisions.page(), "run: python -m tests.architecture.decisions"
