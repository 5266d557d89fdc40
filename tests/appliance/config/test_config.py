"""Where the configuration comes from: files, folders, secrets, systemd; every source is given."""

import os
import pwd
from datetime import UTC
from pathlib import Path
from zoneinfo import TZPATH

import pytest

from appliance.config.load import GRAPH_PASSWORD, SYSTEM_SOCKET, Config, Secret, Supervisor, keep_private, load
from appliance.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def configured(home: Path, text: str = "", **environ: str) -> Config:
    """Return what a user with this file in the usual place and these variables gets."""
    file = home / ".config/nakari/nakari.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return load(environ={"HOME": str(home), **environ})


def test_without_a_file_everything_is_default(home: Path) -> None:
    config = load(environ={"HOME": str(home)})
    assert config.file is None
    assert config.state_folder == home / ".local/state/nakari"
    assert config.sockets == (home / ".local/state/nakari/nakari.sock", SYSTEM_SOCKET)
    assert config.supervisor == Supervisor()
    assert not config.secrets
    assert not config.debug


def test_the_file_named_on_the_command_line_wins(home: Path, tmp_path: Path) -> None:
    named, variable = tmp_path / "a.toml", tmp_path / "b.toml"
    named.write_text("[voice]\nvolume = 1", encoding="utf-8")
    variable.write_text("[voice]\nvolume = 2", encoding="utf-8")
    configured(home, "[voice]\nvolume = 3")
    environ = {"HOME": str(home), "NAKARI_CONFIG": str(variable)}
    assert load(named, environ).voice.volume == 1
    assert load(None, environ).voice.volume == 2
    assert load(None, {"HOME": str(home)}).voice.volume == 3
    assert load(None, {"HOME": str(home)}).file == home / ".config/nakari/nakari.toml"


def test_xdg_moves_the_file_and_the_state_and_has_to_be_absolute(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "etc/nakari/nakari.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[voice]\nvolume = 5", encoding="utf-8")
    moved = {"HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "etc"), "XDG_STATE_HOME": str(tmp_path / "var")}
    assert load(None, moved).voice.volume == 5
    assert load(None, moved).state_folder == tmp_path / "var/nakari"
    relative = {"HOME": str(home), "XDG_CONFIG_HOME": "etc", "XDG_STATE_HOME": "var"}
    assert load(None, relative).state_folder == home / ".local/state/nakari"


@pytest.mark.parametrize("given", ["", "box", "./box"])
def test_a_home_that_is_no_place_is_the_user_s_own(given: str) -> None:
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert load(None, {"HOME": given, "NAKARI_CONFIG": ""}).state_folder == own / ".local/state/nakari"


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_named_file_has_to_exist(tmp_path: Path, how: str) -> None:
    missing = tmp_path / "missing.toml"
    environ = {"HOME": "/", "NAKARI_CONFIG": str(missing)} if how == "variable" else {"HOME": "/"}
    with pytest.raises(ConfigError, match=r"missing\.toml does not exist; `nakari config default"):
        load(missing if how == "option" else None, environ)


def test_a_user_nobody_knows_is_said(home: Path) -> None:
    with pytest.raises(ConfigError, match="names a user that this machine does not know"):
        configured(home, "[state]\nfolder = '~nobody-has-this-name/x'")


def test_a_service_lives_where_systemd_says(home: Path) -> None:
    config = configured(home, "", STATE_DIRECTORY="/var/lib/nakari:/var/lib/more", RUNTIME_DIRECTORY="/run/nakari")
    assert config.state_folder == Path("/var/lib/nakari")
    assert config.sockets == (Path("/run/nakari/nakari.sock"),)


def test_a_folder_of_its_own_wins_and_holds_the_only_socket(home: Path, tmp_path: Path) -> None:
    config = configured(home, f"[state]\nfolder = '{tmp_path}/own'", STATE_DIRECTORY="/var/lib/nakari")
    assert config.state_folder == tmp_path / "own"
    assert config.sockets == (tmp_path / "own/nakari.sock",)
    assert configured(home, f"[door]\nsocket = '{tmp_path}/s'").sockets == (tmp_path / "s",)


def test_the_zone_is_the_set_one_then_the_environment_s_then_the_system_s(home: Path) -> None:
    assert str(configured(home, "[mind]\ntimezone = 'Asia/Shanghai'", TZ="Europe/Berlin").zone) == "Asia/Shanghai"
    assert str(configured(home, TZ=":Europe/Berlin").zone) == "Europe/Berlin"
    system = str(configured(home).zone)
    assert str(configured(home, TZ="CET-1CEST").zone) == system
    assert system in str(Path("/etc/localtime").resolve()) or system == str(UTC)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Shanghai", "America/New_York"])
def test_a_zone_s_file_is_known_by_its_name_also_as_a_copy(home: Path, tmp_path: Path, zone: str) -> None:
    """What /etc/localtime is in a container that is given the host's, and on systems that copy it."""
    there = next(file for folder in TZPATH if (file := Path(folder, zone)).is_file())
    copied, linked = tmp_path / "localtime", tmp_path / "linked"
    copied.write_bytes(there.read_bytes())
    linked.symlink_to(there)
    assert [str(configured(home, TZ=f":{file}").zone) for file in (copied, linked)] == [zone, zone]
    copied.write_text("no zone's")
    assert configured(home, TZ=f":{copied}").zone == configured(home, TZ="").zone


def test_systemd_s_words_reach_the_process_they_are_meant_for(home: Path) -> None:
    environ = {"NOTIFY_SOCKET": "@notify", "WATCHDOG_USEC": "30000000", "JOURNAL_STREAM": "8:1234"}
    assert configured(home, **environ).supervisor == Supervisor("@notify", 30.0, "8:1234")
    assert configured(home, **environ, WATCHDOG_PID=str(os.getpid())).supervisor.watchdog == 30.0
    assert configured(home, **environ, WATCHDOG_PID="1").supervisor.watchdog == 0.0
    assert configured(home, WATCHDOG_USEC="soon").supervisor.watchdog == 0.0


@pytest.mark.shows("F25")
def test_sockets_are_taken_over_if_they_are_meant_for_this_process(home: Path) -> None:
    own = str(os.getpid())
    assert configured(home, LISTEN_FDS="2", LISTEN_PID=own).supervisor.listeners == (3, 4)
    assert configured(home, LISTEN_FDS="2", LISTEN_PID="1").supervisor.listeners == ()
    assert configured(home, LISTEN_FDS="some", LISTEN_PID=own).supervisor.listeners == ()
    assert configured(home, LISTEN_FDS="2").supervisor.listeners == ()


def test_secrets_come_from_the_environment_or_a_credential(home: Path, tmp_path: Path) -> None:
    (tmp_path / "OPENROUTER_API_KEY").write_text("from-file\n", encoding="utf-8")
    (tmp_path / "OPENAI_API_KEY").write_text("not-this\n", encoding="utf-8")
    config = configured(home, OPENAI_API_KEY=" from-environment ", CREDENTIALS_DIRECTORY=str(tmp_path))
    assert {name: secret.reveal() for name, secret in config.provider_keys.items()} == {
        "OPENAI_API_KEY": "from-environment",
        "OPENROUTER_API_KEY": "from-file",
    }
    assert config.revealed(GRAPH_PASSWORD) == ""


def test_a_key_of_ones_own_name_is_the_only_one_used(home: Path) -> None:
    text = "[model]\napi_key_env = 'HOUSE_KEY'"
    config = configured(home, text, HOUSE_KEY="k-1", OPENAI_API_KEY="k-2", NAKARI_NEO4J_PASSWORD="pw")
    assert list(config.provider_keys) == ["HOUSE_KEY"]
    assert config.revealed(GRAPH_PASSWORD) == "pw"
    assert not configured(home, text, OPENAI_API_KEY="k-2").provider_keys


def test_a_credential_that_is_no_text_is_said(home: Path, tmp_path: Path) -> None:
    (tmp_path / "OPENAI_API_KEY").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY cannot be read"):
        configured(home, CREDENTIALS_DIRECTORY=str(tmp_path))


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HOUSE_KEY", "LARGE_KEY", "VECTORS_KEY", "MAIL_KEY"])
@pytest.mark.parametrize("key", ["sk-“curly”", "sk-two\nlines"])
def test_a_key_that_no_request_can_carry_is_told_before_anything_starts(home: Path, name: str, key: str) -> None:
    text = (
        "[model]\napi_key_env = 'HOUSE_KEY'\n[memory]\nembedding_key_env = 'VECTORS_KEY'\n"
        "[models.large]\nname = 'a/b'\napi_key_env = 'LARGE_KEY'\n"
        "[mcp.mail]\nurl = 'http://127.0.0.1:1/mcp'\napi_key_env = 'MAIL_KEY'\n"
    )
    assert configured(home, text, **{name: "sk-fine"}).secrets[name].reveal() == "sk-fine"
    with pytest.raises(ConfigError, match=f"^{name} holds a character that no key has") as raised:
        configured(home, text, **{name: key})
    assert key not in str(raised.value)


def test_a_secret_never_prints(home: Path) -> None:
    config = configured(home, OPENAI_API_KEY="planted-key", NAKARI_NEO4J_PASSWORD="planted-password")
    assert "planted" not in f"{config!r} {config} {config.secrets} {[*config.secrets.values()]}"
    assert f"{Secret('planted')!s} {Secret('planted')!r}" == "Secret(***) Secret(***)"


def test_debug_is_asked_for_by_name(home: Path) -> None:
    assert configured(home, NAKARI_DEBUG="1").debug
    assert not configured(home, NAKARI_DEBUG="0").debug


def test_libraries_are_told_to_keep_quiet_unless_their_owner_decided() -> None:
    environ = {"HF_HUB_DISABLE_TELEMETRY": "0"}
    keep_private(environ)
    assert environ == {
        "ORT_DISABLE_TELEMETRY": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_DISABLE_TELEMETRY": "0",
        "HF_HUB_OFFLINE": "1",
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
    }
