"""`nakari config check|set|path`: comments stay, and nothing wrong is ever written."""

from pathlib import Path

import pytest

from appliance.config.edit import set_value, with_value
from appliance.config.file import SettingsText, default_toml
from appliance.errors import ConfigError, Exit
from tests.appliance.command import nakari

FILE = """# mine
[voice]
volume = 7  # at night

[ears]
# the one on the shelf
device = "USB"
"""


def test_only_the_value_changes() -> None:
    assert with_value(FILE, "x", "voice.volume", "50") == FILE.replace("volume = 7", "volume = 50")
    assert with_value(FILE, "x", "ears.device", "the other") == FILE.replace('"USB"', '"the other"')


def test_what_is_not_there_yet_is_added() -> None:
    text = with_value(FILE, "x", "models.local.name", "qwen")
    text = with_value(text, "x", "log.words", "false")
    settings = SettingsText("x", text).parse()
    assert settings.models["local"].name == "qwen"
    assert not settings.log.words
    assert text.startswith(FILE.rstrip())


def test_a_text_of_digits_is_a_text_where_one_is_wanted() -> None:
    assert SettingsText("x", with_value(FILE, "x", "ears.device", "7")).parse().ears.device == "7"


@pytest.mark.parametrize("typed", ["espeak", "[espeak]", '["espeak"]', "[ espeak ]"])
def test_a_list_may_be_typed_without_brackets_or_the_quotes_that_a_shell_takes(typed: str) -> None:
    assert SettingsText("x", with_value(FILE, "x", "voice.engines", typed)).parse().voice.engines == ("espeak",)


def test_several_of_a_list_stand_between_commas() -> None:
    folders = SettingsText("x", with_value(FILE, "x", "files.folders", "/srv/a, /srv/b")).parse().files.folders
    assert folders == ("/srv/a", "/srv/b")


def test_what_only_looks_like_a_default_is_left_alone() -> None:
    text = '[voice]\ndevice = """\n#volume = 100\n"""\n'
    assert SettingsText("x", with_value(text, "x", "voice.volume", "50")).parse().voice.device == "#volume = 100\n"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("voice.volume", "50", "volume = 50"),
        ("log.file", "/tmp/log", 'file = "/tmp/log"'),
        ("calendar.family.file", "/srv/family.ics", 'file = "/srv/family.ics"'),
    ],
)
def test_a_value_stands_below_its_default_and_never_below_another_section(key: str, value: str, line: str) -> None:
    text = with_value(default_toml(), "x", key, value)
    lines = text.splitlines()
    above = lines[lines.index(line) - 1]
    assert above.startswith((f"#{key.rpartition('.')[2]} = ", "[calendar.family]"))
    again = with_value(text, "x", key, value[:-1])
    assert len(again.splitlines()) == len(lines), "the value is replaced where it stands"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("voice.volume", "500", r"line 3: \[voice\] volume should be at most 100; it is 500"),
        ("voice.volume", "loud", r"\[voice\] volume should be a whole number; it is \"loud\""),
        ("voice.volum", "5", r"\[voice\] has no key volum; did you mean volume\?"),
        ("nope.x", "1", r"there is no section \[nope\]"),
        ("volume", "5", "volume names no setting; write section.key, such as voice.volume"),
        ("voice.", "5", "names no setting"),
        ("voice.volume.x", "5", "cannot be set|volume"),
    ],
)
def test_what_would_be_wrong_is_not_written(tmp_path: Path, key: str, value: str, sentence: str) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text(FILE, encoding="utf-8")
    with pytest.raises(ConfigError, match=sentence):
        set_value(file, key, value)
    assert file.read_text(encoding="utf-8") == FILE
    assert [each.name for each in tmp_path.iterdir()] == ["nakari.toml"], "nothing is left beside it"


def test_no_line_is_named_that_the_file_does_not_have(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    for before in (None, "[log]\nwords = false\n"):
        if before is not None:
            file.write_text(before, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"nakari\.toml: \[voice\] volume should be a whole number"):
            set_value(file, "voice.volume", "loud")


def test_a_file_that_is_wrong_already_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text("[voice]\nvolum = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="has no key volum"):
        set_value(file, "voice.volume", "5")


def test_rights_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "real.toml", tmp_path / "link.toml"
    file.write_text(FILE, encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    set_value(link, "voice.volume", "50")
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "volume = 50" in file.read_text(encoding="utf-8")


def test_the_commands_make_check_and_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "nakari" / "nakari.toml"
    assert nakari(tmp_path, "config", "path").stdout == f"{file}\n"
    assert nakari(tmp_path, "config", "check").stdout == "there is no configuration file; all is default\n"
    assert nakari(tmp_path, "config", "set", "voice.volume", "50").returncode == Exit.OK
    assert nakari(tmp_path, "config", "set", "weather.latitude", "-33.86").returncode == Exit.OK
    assert nakari(tmp_path, "config", "check").stdout == f"{file} is right\n"
    file.write_text("[voice]\nvolume = 500\n", encoding="utf-8")
    done = nakari(tmp_path, "config", "check")
    assert (done.returncode, done.stdout) == (Exit.CONFIG, "")
    assert done.stderr.startswith(f"nakari: {file}, line 2: [voice] volume should be at most")
