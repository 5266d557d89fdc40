"""Servers of tools in the configuration: what may stand there, what they are given, what is told of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.intents.model import OfflineModel
from agent.model.chain import Chain
from appliance.config.agent.tools import McpServer
from appliance.config.file import SettingsText, default_toml, show
from appliance.config.load import Config, load
from appliance.doctor.examine import Verdict
from appliance.doctor.tools.mcp import judge_servers, mcp
from appliance.errors import ConfigError
from appliance.wiring.agent.agent import about
from appliance.wiring.agent.tool_servers import servers_of, unset_secrets
from memory.json_value import Json
from tests.agent.mcp_house import a_tool, bare
from tests.processes import ROOT

pytestmark = pytest.mark.shows("B13")

BOTH = """
[mcp.files]
command = ["files", "--all"]
env = { TZ = "Asia/Tokyo", HOME = "/elsewhere" }
secrets = ["FILES_TOKEN", "NOT_SET"]
tools = ["read", "write"]
timeout_seconds = 5
believe_hints = false
read_only = ["read"]
reversible = ["write"]

[mcp.home]
url = "https://home.example:8123/mcp"
api_key_env = "HOME_KEY"
"""


def configured(folder: Path, text: str, **environment: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(text)
    return load(file, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), **environment})


def test_each_server_is_given_what_it_is_to_have_and_no_key_of_ours(tmp_path: Path) -> None:
    keys = {"FILES_TOKEN": "open", "HOME_KEY": "sesame", "OPENAI_API_KEY": "sk-ours", "PATH": "/bin", "LD_PRELOAD": "x"}
    config = configured(tmp_path, BOTH, **keys)
    files, home = servers_of(config)
    assert files.command == ("files", "--all")
    assert files.environment == {"HOME": "/elsewhere", "PATH": "/bin", "TZ": "Asia/Tokyo", "FILES_TOKEN": "open"}
    assert (sorted(files.allowed), files.timeout, files.believes_hints) == (["read", "write"], 5.0, False)
    assert (list(files.pure), list(files.reversible)) == (["read"], ["write"])
    assert (home.url, home.key, home.environment, home.believes_hints) == (
        "https://home.example:8123/mcp",
        "sesame",
        {},
        True,
    )
    assert unset_secrets(config) == {"files": ("NOT_SET",)}
    assert "sesame" not in repr(config) + show(config)


def test_what_is_used_is_shown_as_it_may_be_written(tmp_path: Path) -> None:
    config = configured(tmp_path, BOTH)
    assert SettingsText("shown", show(config)).parse().mcp == config.mcp
    assert "[mcp.NAME]" in default_toml()
    assert configured(tmp_path, "").mcp == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[mcp.a]", "line 1: [mcp.a] needs a command or a url, one of them"),
        ('[mcp.a]\ncommand = ["b"]\nurl = "http://c"', "needs a command or a url"),
        ('[mcp.a]\ncommand = "b"', "[mcp.a] command should be a list, each a text in quotes"),
        ('[mcp.a]\ncommand = [" "]', "line 2: [mcp.a] command names no program"),
        ('[mcp.A]\ncommand = ["b"]', "should have a name of small letters, digits and -"),
        ('[mcp.a_b]\ncommand = ["b"]', "should have a name of small letters, digits and -"),
        (f'[mcp.{"a" * 25}]\ncommand = ["b"]', "should have a name of at most 24 characters"),
        ('[mcp.a]\nurl = "ftp://b"', "url should begin with http:// or https://"),
        ('[mcp.a]\nurl = "http://user:word@b"', "url should hold no user and no password"),
        ('[mcp.a]\nurl = "http://b"\napi_key_env = "sk-1"', "not the key itself"),
        ('[mcp.a]\nurl = "http://b"\nenv = { A = "b" }', "env is for a command"),
        ('[mcp.a]\nurl = "http://b"\nsecrets = ["A"]', "secrets is for a command"),
        ('[mcp.a]\ncommand = ["b"]\napi_key_env = "C"', "api_key_env is for a url"),
        ('[mcp.a]\ncommand = ["b"]\nenv = { "A B" = "c" }', "env should hold names of variables"),
        ('[mcp.a]\ncommand = ["b"]\nsecrets = ["A B"]', "secrets should hold names of variables"),
        ('[mcp.a]\ncommand = ["b"]\nenv = { MY_TOKEN = "c" }', "env holds MY_TOKEN, and this file is no secret"),
        ('[mcp.a]\ncommand = ["b"]\ntimeout_seconds = 1000', "timeout_seconds should be at most 240"),
        ('[mcp.a]\ncomand = ["b"]', "did you mean command?"),
        ("mcp = 1", "mcp is a catalog"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, text)
    assert sentence in caught.value.sentence


def test_a_section_of_ours_may_have_a_servers_name(tmp_path: Path) -> None:
    config = configured(tmp_path, '[mcp.memory]\ncommand = ["b"]\n[mcp.offline]\nurl = "http://127.0.0.1/mcp"')
    assert config.mcp["memory"] == McpServer(command=("b",))


def test_the_client_is_not_imported_before_a_server_is_to_be_connected() -> None:
    program = "import sys, appliance.wiring.box; print({'mcp', 'httpx2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.shows("D18")
def test_where_the_arguments_of_tools_go_is_told(tmp_path: Path) -> None:
    servers = f'{BOTH}\n[mcp.near]\nurl = "http://127.0.0.1:8000/mcp"'
    local = '[voice]\nengine = "espeak"\n'
    assert about(configured(tmp_path, local + servers), Chain.of([OfflineModel()]))().leaving == (
        "what the tools of files are given, to whoever files sends it on to, a program of others",
        "what the tools of home are given, to home.example:8123",
    )


def test_the_doctor_connects_to_each_server_and_lets_it_go(tmp_path: Path) -> None:
    config = configured(tmp_path, "")
    assert mcp(config).what == "no servers of tools are configured"
    server = bare(tmp_path / "here", a_tool("look"), a_tool("odd", inputSchema={"type": "object"}))
    command = ", ".join(f"'{part}'" for part in server.command)
    here = f'[mcp.here]\ncommand = [{command}]\ntools = ["look", "ghost"]\n'
    away = '[mcp.away]\ncommand = ["/no/such/program"]\n'
    line = mcp(configured(tmp_path, here, PATH="/usr/bin"))
    assert (line.verdict, line.what) == (Verdict.WARNING, "here: 1 tool")
    assert line.fix == "here has no ghost: correct [mcp.here] tools"
    line = mcp(configured(tmp_path, here + away, PATH="/usr/bin"))
    assert line.verdict is Verdict.FAULT
    assert "away: its program ended with code 1 / /no/such/program cannot be run: No such file" in line.what
    assert "start away, or correct [mcp.away]" in line.fix


def test_the_doctor_weighs_what_the_running_service_says() -> None:
    good: dict[str, Json] = {"state": "connected", "tools": 3, "losses": 1}
    assert judge_servers({"a": good}, {}).verdict is Verdict.OK
    many = judge_servers({"a": {**good, "too_many": 7}}, {})
    assert (many.verdict, many.fix) == (
        Verdict.WARNING,
        "7 tools of a found no room: list those you want in [mcp.a] tools",
    )
    odd = judge_servers({"a": {**good, "refused": {"b": "its arguments are no object"}}}, {})
    assert odd.fix == "tools of a are left out: b (its arguments are no object)"
    unset = judge_servers({"a": good}, {"a": ("TOKEN",)})
    assert (unset.verdict, unset.fix) == (Verdict.WARNING, "set TOKEN for a")
    lost = judge_servers({"a": {"state": "lost", "reason": "nothing answers"}, "b": good}, {})
    assert (lost.verdict, lost.what) == (Verdict.FAULT, "a: nothing answers; b: 3 tools")
    begun = judge_servers({"a": {"state": "connecting", "reason": "it is being connected"}}, {})
    assert (begun.verdict, begun.what, begun.fix) == (Verdict.WARNING, "a: it is being connected", "")
