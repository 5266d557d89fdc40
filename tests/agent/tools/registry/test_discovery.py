"""A tool is a file: found at start in each of its forms, left out with a reason where it is broken or lacks a key."""

import asyncio
import json
import re
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from agent.context.situation import gather
from agent.event import HOUSEHOLD, Event
from agent.mailbox import Lease
from agent.tools.registry.discovery import Discovered, discover
from agent.tools.tool import Call, Tool, run_tool
from tests.agent.mind import a_mind
from tests.appliance.wiring.every_tool import over_nothing

pytestmark = pytest.mark.shows("F7", "G19")

EXAMPLES = re.findall(r"```python\n(.*?)```", Path("docs/tools.md").read_text(encoding="utf-8"), re.DOTALL)


def found_in(folder: Path, files: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> Discovered:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o644)
    return discover(over_nothing(), folder, lambda name: (secrets or {}).get(name, ""), lambda key: key == HOUSEHOLD)


def own(found: Discovered) -> dict[str, Tool]:
    return {tool.name: tool for tool in found.tools if tool.name in found.own}


async def answer(tool: Tool, owner_key: str = HOUSEHOLD, **arguments: object) -> str:
    return await run_tool(tool, json.dumps(arguments), Call("c1", Event("user_text", owner_key=owner_key)))


def test_every_built_in_tool_comes_out_of_a_file_of_the_folder(tmp_path: Path) -> None:
    found = discover(over_nothing(), tmp_path / "absent")
    names = {tool.name for tool in found.tools}
    assert {"reply", "set_timer", "current_time", "recall", "device", "complete_event"} <= names
    assert not found.broken
    assert "test_tool" not in names


async def test_a_typed_function_with_a_docstring_is_a_tool(tmp_path: Path) -> None:
    found = own(
        found_in(
            tmp_path,
            {
                "sums.py": 'TIMEOUT = 3\nEFFECT = "pure"\nIS_SLOW = True\n\n'
                'def double(number: int, twice: bool = False) -> int:\n    """Double a number."""\n'
                "    return number * (4 if twice else 2)\n\n"
                'def _hidden() -> str:\n    """Nobody\'s."""\n',
            },
        )
    )
    assert [*found] == ["double"]
    double = found["double"]
    assert (double.timeout, double.effect, double.is_slow) == (3, "pure", True)
    assert double.spec.description == "Double a number."
    assert await answer(double, number=4) == "8"
    assert "wrong arguments" in await answer(double, number="four")


async def test_a_definition_with_its_function_is_a_tool(tmp_path: Path) -> None:
    definition = (
        'ECHO_TOOL = {"type": "function", "function": {"name": "echo", "description": "Say it.", "parameters": '
        '{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}\n'
    )
    found = own(found_in(tmp_path, {"echo.py": f"{definition}async def echo(text):\n    return text + text\n"}))
    assert found["echo"].spec.description == "Say it."
    assert await answer(found["echo"], text="o") == "oo"
    assert "missing: text" in await answer(found["echo"])
    assert "unknown: loud" in await answer(found["echo"], text="o", loud=True)


async def test_a_decorated_function_declares_for_itself(tmp_path: Path) -> None:
    text = (
        "from agent.tools.tool import tool\n\n"
        '@tool(effect="reversible", timeout=1, brief="Knock.")\nasync def knock(times: int) -> str:\n'
        '    """Knock at the door."""\n    return "knock " * times\n\n'
        'def helper() -> None:\n    """Help, and be no tool."""\n'
    )
    found = own(found_in(tmp_path, {"knock.py": text}))
    assert [*found] == ["knock"]
    assert found["knock"].brief is not None
    assert await answer(found["knock"], times=1) == "knock "


async def test_without_its_key_a_tool_is_not_offered(tmp_path: Path) -> None:
    text = (
        "from agent.tools.tool import Secrets\n\nSECRETS = ('TRAM_KEY',)\n\n"
        'def tram(stop: str, secrets: Secrets) -> str:\n    """Tell of trams."""\n'
        '    return secrets["TRAM_KEY"] + stop\n'
    )
    found = found_in(tmp_path, {"tram.py": text})
    assert own(found) == {}
    assert found.lacking == {"tram": ("TRAM_KEY",)}
    found = found_in(tmp_path, {}, {"TRAM_KEY": "sk-", "OTHER_KEY": "sk-other"})
    [tram] = own(found).values()
    assert "secrets" not in json.dumps(dict(tram.spec.parameters))
    assert await answer(tram, stop="x") == "sk-x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def tool(:\n", "line 1: invalid syntax"),
        ("\nimport nothing_like_it\n", "line 2: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        ("x = 1\n", "it holds no tool"),
        ('def reply(text: str) -> str:\n    """Take its place."""\n', "there is a tool named reply already"),
        ('GO_TOOL = {"name": "go", "parameters": {}}\n', "its definition names go, and there is no such function"),
        ('GO_TOOL = {"name": "go", "parameters": {"type": "array"}}\ndef go(): ...\n', "go cannot be told to a model"),
        ("def tools(context):\n    return context.nothing\n", "line 2: AttributeError"),
        (
            'from agent.tools.tool import tool\n@tool(efect="pure")\ndef go() -> str:\n    """Go."""\n',
            "line 2: TypeError: Unexpected keyword argument 'efect'",
        ),
    ],
)
def test_a_broken_file_is_one_line_and_the_others_load(tmp_path: Path, text: str, why: str) -> None:
    fine = 'def fine() -> str:\n    """Be fine."""\n    return "fine"\n'
    found = found_in(tmp_path, {"a_broken.py": text, "z_fine.py": fine})
    assert [*found.broken] == ["a_broken.py"]
    assert found.broken["a_broken.py"].startswith(why)
    assert "\n" not in found.broken["a_broken.py"]
    assert found.own == ("fine",)


def test_what_others_may_have_written_is_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    file = tmp_path / "theirs.py"
    file.write_text(f'open({str(marker)!r}, "w")\ndef theirs() -> str:\n    """Be theirs."""\n')
    file.chmod(0o646)
    found = discover(over_nothing(), tmp_path)
    assert "others may write to it" in found.broken["theirs.py"]
    assert not marker.exists()


async def test_a_tool_of_the_household_is_refused_to_a_stranger(tmp_path: Path) -> None:
    found = own(found_in(tmp_path, {"door.py": 'def door() -> str:\n    """Open it."""\n    return "open"\n'}))
    assert await answer(found["door"]) == "open"
    assert "no member" in await answer(found["door"], owner_key="somebody")


async def test_a_function_that_is_not_async_holds_nothing_up(tmp_path: Path) -> None:
    text = "import threading\ndef where() -> int:\n    '''Tell which thread.'''\n    return threading.get_ident()\n"
    found = own(found_in(tmp_path, {"where.py": text}))
    assert int(await answer(found["where"])) != threading.get_ident()


async def test_an_observer_sees_what_its_topics_name_and_harms_nobody(tmp_path: Path) -> None:
    text = (
        'import asyncio\n\nTOPICS = ("tools.*",)\nSEEN = []\nBOTH = asyncio.Event()\n\n'
        "async def observe(envelope):\n    SEEN.append(envelope.type)\n"
        "    if len(SEEN) == 2:\n        BOTH.set()\n    raise RuntimeError\n"
    )
    found = found_in(tmp_path, {"diary.py": text})
    assert found.own == ()
    async with a_mind(tmp_path, []) as mind, asyncio.TaskGroup() as group:
        bus = mind.mind.bus
        assert [*found.loops(bus)] == ["own: diary.py, tools.*"]
        tasks = [group.create_task(loop()) for loop in found.loops(bus).values()]
        await asyncio.sleep(0)
        for topic in ("tools.results", "speech.said", "tools.requests"):
            await bus.publish(Event(topic))
        diary = sys.modules["nakari_tools_diary"]
        await diary.BOTH.wait()
        assert diary.SEEN == ["tools.results", "tools.requests"]
        for task in tasks:
            task.cancel()


def test_topics_are_wanted_of_an_observer(tmp_path: Path) -> None:
    found = found_in(tmp_path, {"deaf.py": "def observe(envelope): ...\n"})
    assert found.broken == {"deaf.py": 'observe() wants TOPICS, such as ("tools.results",)'}


class Trams(BaseHTTPRequestHandler):
    """A city's trams."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"text": self.path}).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
        """Say nothing."""


async def test_the_examples_of_the_page_work(tmp_path: Path) -> None:
    server = HTTPServer(("127.0.0.1", 0), Trams)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"127.0.0.1:{server.server_port}"
    sent = tmp_path / "mosquitto_pub"
    sent.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/sent\n')
    sent.chmod(0o755)
    there = [text.replace("127.0.0.1:8099", here).replace(f'"{sent.name}"', f'"{sent}"') for text in EXAMPLES]
    files = {f"example{number}.py": text for number, text in enumerate(there)}
    found = found_in(tmp_path, files, {"TRAM_KEY": "sk-t"})
    assert not found.broken
    assert [(each.file, each.topic) for each in found.observers] == [("example3.py", "tools.results")]
    await found.observers[0].observe(Event("tools.results", "it is open"))
    assert (await asyncio.to_thread((tmp_path / "diary.txt").read_text)).endswith(" it is open\n")
    [bins] = found.situation
    assert set(gather([bins], Lease(Event("user_text")))) == {"Bin_This_Week"}
    tools = own(found)
    assert set(tools) == {"next_tram", "lamp", "remind_of_bins"}
    assert await answer(tools["next_tram"], stop="Mill") == "/next?stop=Mill&key=sk-t"
    assert await answer(tools["lamp"], on=True) == "done"
    assert await asyncio.to_thread((tmp_path / "sent").read_text) == "-h 127.0.0.1 -t hall/lamp/set -m ON\n"
    await asyncio.to_thread(server.shutdown)
    server.server_close()
