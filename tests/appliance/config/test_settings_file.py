"""The configuration file: every way to get it wrong is one sentence that names the place and the fix."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from appliance.config.agent.models import NamedModel
from appliance.config.file import (
    SECTIONS,
    SettingsText,
    default_toml,
    line_of,
    read_settings,
    show,
)
from appliance.config.meaning import settings_of, toml_value
from appliance.config.network.http import HttpSettings
from appliance.config.sections import EarsSettings, Settings, VoiceSettings
from appliance.errors import ConfigError, Exit


def parse(text: str) -> Settings:
    return SettingsText("nakari.toml", text).parse()


def complaint(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert caught.value.code is Exit.CONFIG
    assert "\n" not in caught.value.sentence
    return caught.value.sentence


def test_an_empty_file_is_all_defaults() -> None:
    assert parse("") == Settings()
    assert Settings().ears.commit_silence == 0.7
    assert Settings().mind.max_tool_calls == 10


def test_what_the_file_says_replaces_the_default_and_nothing_else() -> None:
    settings = parse('[ears]\nmodel = "small"\ncommit_silence = 1\n[voice]\nvolume = 40\n')
    assert settings.ears == EarsSettings(model="small", commit_silence=1.0)
    assert settings.voice == VoiceSettings(volume=40)
    assert settings.model == Settings().model


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[eras]\n", "nakari.toml, line 1: there is no section [eras]; did you mean [ears]?"),
        ("[zzz]\n", "nakari.toml, line 1: there is no section [zzz]"),
        (
            "[ears]\nmodel = 'x'\ncomit_silence = 1",
            "nakari.toml, line 3: [ears] has no key comit_silence; did you mean commit_silence?",
        ),
        ("[ears]\nModel = 'x'", "nakari.toml, line 2: [ears] has no key Model; did you mean model?"),
        ("[ears]\nvolume = 3", "nakari.toml, line 2: [ears] has no key volume; it belongs below [voice]"),
        ("[state]\nqqqq = 3", "nakari.toml, line 2: [state] has no key qqqq; its keys are folder"),
        ("volume = 3", "nakari.toml, line 1: volume stands outside of any section; it belongs below [voice]"),
        ("device = ''", "device stands outside of any section; it belongs below [ears] or [voice]"),
        ("wxyz = 3", "nakari.toml, line 1: wxyz stands outside of any section"),
        ("ears = 3", "nakari.toml, line 1: ears is a section: write [ears] on a line, its keys below it"),
        ("[[ears]]\n", "nakari.toml: ears is a section"),
        ("[ears.model]\nname = 'x'", "nakari.toml: [ears] model should be a text in quotes; it is a table"),
        ("[ears]\ncommit_silence = 'x'", 'line 2: [ears] commit_silence should be a number; it is "x"'),
        ("[ears]\ncommit_silence = 9", "[ears] commit_silence should be at most 1.2; it is 9"),
        ("[ears]\ncommit_silence = nan", "[ears] commit_silence should be"),
        ("[ears]\nlanguage = 'en-US'", 'language should be a code of ISO 639-1 in small letters, such as "en" or "zh"'),
        ("[ears]\nlanguage = 'English'", "[ears] language should be a code"),
        ("[ears]\nbackend = 'alsa'", '[ears] backend should be "sounddevice" or "pyaudio"; it is "alsa"'),
        ("[voice]\nvolume = -1", "[voice] volume should be at least 0; it is -1"),
        ("[voice]\nvolume = true", "[voice] volume should be a whole number; it is true"),
        ("[voice]\nvolume = 99999999999999999999999", "[voice] volume should be at most 100"),
        ("[log]\nwords = 'no'", '[log] words should be true or false; it is "no"'),
        ("[state]\nfolder = 2020-01-01", "[state] folder should be a text in quotes; it is a date"),
        (
            "[mcp.own]\ncommand = 2020-01-01",
            "line 2: [mcp.own] command should be a list, each a text in quotes; it is a date",
        ),
        ("[state]\nfolder = ['a']", "[state] folder should be a text in quotes; it is a list"),
        ("[mind]\ntimezone = 'Mars/Base'", "[mind] timezone should be a zone of this system's tzdata"),
        ("[mind]\ntimezone = '../../etc/passwd'", "[mind] timezone should be a zone"),
        ("[model]\nbase_url = 'localhost:8080'", "[model] base_url should begin with http:// or https://"),
        ("[memory]\nuri = 'http://x'", "[memory] uri should begin with neo4j://"),
        ("[voice]\nedge_url = 'http://x'", "[voice] edge_url should begin with ws:// or wss://"),
        ("[model]\nbase_url = 'http://'", '[model] base_url names no host; it is "http://"'),
        ("[model]\nbase_url = 'http://[::1/v1'", "[model] base_url is no address (Invalid IPv6 URL)"),
        ("[model]\nbase_url = 'http://box:port/v1'", "[model] base_url is no address (Port could not be cast"),
        ("[memory]\nuri = 'bolt://box:70000'", "[memory] uri is no address (Port out of range"),
        ("[model]\nmodel = 'x'", "[model] has no key model; did you mean name?"),
        ("[model]\nurl = 'x'", "[model] has no key url; did you mean base_url?"),
        ("[model]\napi_key = 'x'", "[model] has no key api_key; did you mean api_key_env?"),
    ],
)
def test_a_wrong_file_is_one_sentence(text: str, sentence: str) -> None:
    assert sentence in complaint(text)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        pytest.param("[" * 100_000, "nakari.toml is not valid TOML: maximum recursion depth exceeded", id="no end"),
        pytest.param("9" * 5_000, "nakari.toml is not valid TOML: Exceeds the limit (4300 digits)", id="digits"),
        pytest.param("[" * 300 + "]" * 300, "should be a text in quotes; it is a list", id="deep"),
    ],
)
@pytest.mark.parametrize("place", ["[ears]\nmodel", "[mcp.x]\nurl", "[models.x]\nname"])
def test_what_no_parser_takes_is_told_like_all_that_is_wrong(place: str, value: str, sentence: str) -> None:
    assert sentence in complaint(f"{place} = {value}\n")


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("[model]\nname = 'a'\nname = 'b'\n", "; this key stands there twice, keep one of them"),
        ("[model]\nname = 'a'\n[model]\n", "; this section stands there twice, put its keys below one"),
        ("[model]\nname = qwen3:8b\n", '; a text stands in straight quotes, as in name = "NAME"'),
        ("[model]\nname = “qwen3:8b”\n", '; a text stands in straight quotes, as in name = "NAME"'),
        ("[model]\nname: qwen3\n", '; a line is a key, = and its value, as in name = "NAME"'),
    ],
)
def test_broken_toml_is_told_with_what_mends_it(text: str, fix: str) -> None:
    said = complaint(text)
    assert said.startswith("nakari.toml is not valid TOML: ")
    assert said.endswith(fix)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[ears\n", "line 1"),
        ("[ears]\nmodel = \n", "line 2"),
        ("[ears]\nmodel = 'a'\nmodel = 'b'\n", "line 3"),
        ("x", "end"),
    ],
)
def test_broken_toml_names_the_line(text: str, place: str) -> None:
    said = complaint(text)
    assert said.startswith("nakari.toml is not valid TOML: ")
    assert place in said


@pytest.mark.shows("F25")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("addresses = ['0.0.0.0:8420']", 'line 2: [http] addresses holds "0.0.0.0:8420", which lets other machines in'),
        ("addresses = ['127.0.0.1:1', '192.168.1.2:8420']", 'holds "192.168.1.2:8420", which lets other machines in'),
        ("addresses = ['[::]:8420']", 'holds "[::]:8420", which lets other machines in: give it a certificate'),
        ("addresses = ['localhost:8420']", 'should be addresses such as 127.0.0.1:8420 or [::1]:8420; one is "local'),
        ("addresses = ['127.0.0.1']", 'should be addresses such as 127.0.0.1:8420 or [::1]:8420; one is "127.0.0.1"'),
        ("addresses = ['::1:8420']", "should be addresses such as"),
        ("addresses = ['127.0.0.1:84200']", "should be addresses such as"),
        ("addresses = ['127.0.0.1:8420/x']", "should be addresses such as"),
        ("names = ['https://nakari.home']", 'should be names in small letters, without https:// and port, such as "na'),
        ("names = ['nakari.home:8420']", "should be names in small letters"),
        ("names = ['my box']", "should be names in small letters"),
        ("certificate = '/etc/ssl/box.pem'", "[http] certificate has no key beside it: they come together"),
        ("key = '/etc/ssl/box.key'", "[http] key has no certificate beside it"),
        ("certificate = 'box.pem'", "[http] certificate should begin with / or ~/"),
        ("behind_proxy = ['caddy']", 'should be addresses such as 127.0.0.1 or 192.168.1.0/24; one is "caddy"'),
        ("requests_per_minute = 0", "[http] requests_per_minute should be at least 10"),
    ],
)
def test_what_would_let_strangers_in_is_refused(text: str, sentence: str) -> None:
    assert sentence in complaint(f"[http]\n{text}")


@pytest.mark.shows("F25")
@pytest.mark.parametrize(
    "text",
    [
        "addresses = ['0.0.0.0:8420', '[::]:8420']\ncertificate = '/c.pem'\nkey = '~/c.key'",
        "addresses = ['192.168.1.2:8420']\nbehind_proxy = ['192.168.1.1', 'fd00::/8']",
        "addresses = ['[::1]:8420', '127.1.2.3:0']\nnames = ['nakari', 'nakari.home']",
        "enabled = false\naddresses = ['0.0.0.0:8420']",
    ],
)
def test_where_http_may_be_answered(text: str) -> None:
    assert parse(f"[http]\n{text}").http != HttpSettings()


@pytest.mark.shows("X13")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("listen = '0.0.0.0:10300'", 'line 2: [wyoming] listen is "0.0.0.0:10300", which lets other machines in'),
        ("listen = '192.168.1.2:10300'", "and Wyoming knows no password: name those that may come in networks"),
        ("listen = 'localhost:10300'", "should be an address with a port such as 127.0.0.1:10300"),
        ("listen = '127.0.0.1'", "should be an address with a port such as"),
        ("networks = ['kitchen']", 'should be addresses such as 192.168.1.5 or 192.168.1.0/24; one is "kitchen"'),
        ("networks = ['192.168.1.5/24']", 'one is "192.168.1.5/24"'),
        ("connections = 0", "[wyoming] connections should be at least 1"),
    ],
)
def test_wyoming_lets_nobody_in_who_was_not_named(text: str, sentence: str) -> None:
    assert sentence in complaint(f"[wyoming]\n{text}")


@pytest.mark.shows("X13")
def test_wyoming_is_off_until_it_is_told_where_to_listen() -> None:
    assert not parse("").wyoming.listen
    named = parse("[wyoming]\nlisten = '0.0.0.0:10300'\nnetworks = ['192.168.1.0/24', 'fd00::5']").wyoming
    assert named.networks == ("192.168.1.0/24", "fd00::5")
    assert parse("[wyoming]\nlisten = '[::1]:10300'").wyoming.listen == "[::1]:10300"


def test_a_key_pasted_in_place_of_its_variable_is_not_repeated() -> None:
    said = complaint("[model]\napi_key_env = 'sk-or-v1-0123456789abcdef'")
    assert "not the key itself" in said
    assert "0123" not in said


@pytest.mark.parametrize("text", ["[memory]\nuri = 'bolt://me:0123@box'", "[model]\nbase_url = 'http://0123@box/v1'"])
def test_a_password_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    said = complaint(text)
    assert "should hold no user and no password" in said
    assert "0123" not in said


@pytest.mark.parametrize(
    "text",
    [
        "[model]\nbase_url = 'http://[::1]:8080/v1'",
        "[memory]\nuri = 'neo4j+s://graph.example'",
        "[voice]\nedge_url = 'ws://127.0.0.1:9/consumer'",
    ],
)
def test_a_good_address_is_kept(text: str) -> None:
    assert repr(parse(text)) != repr(Settings())


def test_a_very_long_wrong_value_is_cut() -> None:
    assert len(complaint(f"[ears]\nbackend = '{'x' * 10_000}'")) < 250


@pytest.mark.parametrize(
    ("text", "section", "key", "line"),
    [
        ("# x\n[ears]\nmodel = 1", "ears", "model", 3),
        ("[voice]\ndevice = 1\n[ears]\ndevice = 2", "ears", "device", 4),
        ('[ ears ]\n  "model"=1', "ears", "model", 2),
        ("[ears]", "ears", "", 1),
        ("ears = 1", "ears", "", 1),
        ("ears = {model = 1}", "ears", "model", 0),
        ("", "ears", "model", 0),
    ],
)
def test_line_of(text: str, section: str, key: str, line: int) -> None:
    assert line_of(text, section, key) == line


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory"):
        read_settings(tmp_path)
    (tmp_path / "latin").write_bytes("[ears]\nmodel = 'ä'".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin is not valid TOML: it is not UTF-8 text \(byte 16\)"):
        read_settings(tmp_path / "latin")
    with pytest.raises(ConfigError, match=r"/dev/zero is no configuration: it does not end within 1000000 characters"):
        read_settings(Path("/dev/zero"))


def test_an_editors_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_bytes("[ears]\nmodel = '模型'".encode("utf-8-sig"))
    assert read_settings(file).ears.model == "模型"


def test_the_default_file_changes_nothing_and_neither_do_its_values() -> None:
    assert parse(default_toml()) == Settings()
    uncommented = re.sub(r"^#(?=\w)", "", default_toml(), flags=re.MULTILINE)
    assert parse(uncommented) == Settings()
    assert uncommented.count(" = ") >= sum(len(fields(kind)) for kind in SECTIONS.values())


def test_every_setting_says_what_it_means() -> None:
    described = {(name, key): meaning for name, kind in SECTIONS.items() for key, _, meaning in settings_of(kind)}
    assert len(described) == sum(len(fields(kind)) for kind in SECTIONS.values()) >= 30
    assert all(meaning.text.endswith(".") for meaning in described.values())
    assert described["ears", "commit_silence"].unit == "s"


def test_what_is_shown_can_be_read_back() -> None:
    settings = parse("[state]\nfolder = '/C:\\\"odd\" 路径'\n[voice]\nvolume = 7\n[log]\nwords = false")
    assert parse(show(settings)) == settings
    assert "volume = 7  # default: 100" in show(settings)
    assert "# How long a silence ends your turn" in show(settings)
    assert "In s." in show(settings)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])).filter(lambda text: bool(text.strip())))
def test_any_text_that_can_be_seen_survives_the_file(text: str) -> None:
    assert parse(f"[ears]\nhotwords = {toml_value(text)}").ears.hotwords == text


TEXTS = [
    (section, key)
    for section, kind in (*SECTIONS.items(), ("models.own", NamedModel))
    for key, default, _ in settings_of(kind)
    if isinstance(default, str)
]


@pytest.mark.parametrize("value", ["a\x00b", "a\x1b[31mb", " \t"])
def test_no_setting_holds_what_cannot_be_seen(value: str) -> None:
    for section, key in TEXTS:
        said = complaint(f"[{section}]\n{key} = {toml_value(value)}")
        assert said.startswith(f"nakari.toml, line 2: [{section}] {key} ")
        assert said.isprintable()
    assert "U+0000); take it out" in complaint('[mcp.own]\ncommand = ["a", "\\u0000"]')
    assert "U+001B); take it out" in complaint('[mcp.own]\ncommand = ["a"]\nenv = {A = "\\u001b"}')


@pytest.mark.parametrize(
    ("section", "key", "is_one"),
    [
        ("state", "folder", True),
        ("door", "socket", True),
        ("log", "file", True),
        ("ears", "model", False),
        ("memory", "embedding_model", False),
    ],
)
def test_a_path_is_the_same_wherever_nakari_is_started(section: str, key: str, is_one: bool) -> None:
    where = f"nakari.toml, line 2: [{section}] {key}"
    unknown = complaint(f"[{section}]\n{key} = '~nobody-has-this-name/x'")
    assert unknown == f'{where} names a user that this machine does not know; it is "~nobody-has-this-name/x"'
    assert parse(f"[{section}]\n{key} = '/x'") != parse(f"[{section}]\n{key} = '~/x'") != Settings()
    if is_one:
        assert complaint(f"[{section}]\n{key} = 'x/y'").startswith(f"{where} should begin with / or ~/, so that")
        assert complaint(f"[{section}]\n{key} = '/'") == f'{where} should name a place below the root; it is "/"'
    else:
        assert parse(f"[{section}]\n{key} = 'x/y'") != Settings()


@given(st.text("[]=\"'#.\n\\ears model{}1,é\x00"))
def test_no_text_whatever_ends_in_anything_but_a_config_error(text: str) -> None:
    with suppress(ConfigError):
        parse(text)


def test_an_odd_name_stays_on_one_line() -> None:
    assert complaint('[ears]\n"a\\nb" = 1').startswith("nakari.toml: [ears] has no key a b;")


@pytest.mark.shows("V16")
def test_a_reflex_that_there_is_not_is_told_with_those_that_are() -> None:
    assert parse("[reflexes]\nwords = 'stop, wait'").reflexes.words == "stop, wait"
    with pytest.raises(ConfigError, match=r'words should name some of stop, wait, .*; "hop" is none'):
        parse("[reflexes]\nwords = 'stop, hop'")
