"""What is drawn for a person, on a real pseudo-terminal and off one."""

import subprocess
import sys
from pathlib import Path

from appliance.cli.terminal import cell_width, columns, printable
from tests.appliance.command import environment, on_terminal

ESCAPE = "\x1b["

TABLE = (
    "from appliance.cli.terminal import table, show, FAULT\n"
    "table([['3:00', 'pasta \\x1b[2J'], ['17:30', '面条']], ['when', 'what'], styles=['faint'])\n"
    "show('broken', FAULT)"
)

BAR = (
    "from appliance.cli.terminal import progress\n"
    "with progress('fetching') as told:\n    told(3, 9)\n    told(9, 9)\nprint('done')"
)


def written(home: Path, program: str, **more: str) -> str:
    """Return all that a program writes to a terminal."""
    shown, code = on_terminal([sys.executable, "-c", program], environment(home, **more))
    assert code == 0, shown
    return shown


def test_a_table_has_its_header_and_colours_on_a_terminal(tmp_path: Path) -> None:
    shown = written(tmp_path, TABLE)
    assert "when" in shown
    assert ESCAPE in shown
    assert f"{ESCAPE}2J" not in shown, "what things are called steers no terminal"


def test_no_color_is_no_colour(tmp_path: Path) -> None:
    shown = written(tmp_path, TABLE, NO_COLOR="1")
    assert shown.splitlines() == ["when   what", "3:00   pasta  [2J", "17:30  面条", "broken"]


def test_what_joins_letters_stays_and_what_hides_them_does_not() -> None:
    for whole in ("👩‍👩‍👧‍👦", "می‌خواهم", "क्‍ष"):
        assert printable(whole) == whole
    assert printable("a\u202eb\u2066c\u200fd\u200be") == "a b c d e"
    assert cell_width("می‌خواهم") == 7


def test_a_bar_is_drawn_to_its_end(tmp_path: Path) -> None:
    shown = written(tmp_path, BAR)
    assert "fetching" in shown
    assert "100%" in shown
    assert shown.endswith("\ndone\n")


def test_work_that_tells_nothing_shows_its_name_and_takes_it_away(tmp_path: Path) -> None:
    shown = written(tmp_path, "from appliance.cli.terminal import progress\nwith progress('reading'): pass")
    assert shown.startswith("reading …")
    assert shown.endswith(" \r")


def test_nothing_of_it_is_in_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"{TABLE}\n{BAR}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(tmp_path))
    assert done.stdout == "3:00   pasta  [2J\n17:30  面条\nbroken\ndone\n"
    assert done.stderr == ""


def test_chinese_letters_are_two_columns_wide() -> None:
    assert cell_width("面条 x") == 6
    assert columns([["面条", "a"], ["abcde", "b"]]) == ["面条   a", "abcde  b"]
