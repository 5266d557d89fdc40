"""Who may import whom, and what a light start does not load."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT, imports, is_for_types_only, sources

MAY_IMPORT = {
    "appliance": {"appliance", "agent", "audio", "memory"},
    "agent": {"agent", "memory"},
    "audio": {"audio"},
    "memory": {"memory"},
}
"""appliance -> agent -> memory and appliance -> audio; nothing else."""

HEAVY = {
    *(
        "arcadedb",
        "asyncinotify",
        "av",
        "ctranslate2",
        "edge_tts",
        "fastapi",
        "faster_whisper",
        "hassil",
        "home_assistant_intents",
        "httpx2",
        "icalendar",
    ),
    *(
        "litellm",
        "mcp",
        "nats",
        "neo4j",
        "onnxruntime",
        "openai",
        "pint",
        "prometheus_client",
        "pocketsphinx",
        "pypdf",
        "pyaudio",
        "recurring_ical_events",
        "redis",
        "sherpa_onnx",
        "simpleeval",
        "snowballstemmer",
        "starlette",
        "sounddevice",
        "text_to_num",
        "tiktoken",
        "tokenizers",
        "trafilatura",
        "uvicorn",
        "websockets",
        "wyoming",
    ),
}
"""Libraries that cost a tenth of a second or tens of megabytes to import, or that may be missing."""


def test_packages_import_only_downwards() -> None:
    upward = [
        f"{path}:{line} imports {name}"
        for path in sources()
        for name, line in imports(path)
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in MAY_IMPORT[path.parts[0]]
    ]
    assert upward == []


PIPELINE = ("language", "saying", "subjects", "learned", "follow_up", "reading", "judging")
"""The rooms of agent/intents: each imports those before it, and what lies beside them decides by all."""


def test_the_rooms_of_a_sentence_import_one_way() -> None:
    rooms = {entry.parent.name for entry in (ROOT / "agent/intents").glob("*/__init__.py")}
    backwards = [
        f"{path}:{line} imports {name}"
        for path in sources()
        if path.is_relative_to("agent/intents") and path.parts[2] in PIPELINE
        for name, line in imports(path)
        if name.startswith("agent.intents.") and not may_be_read(path.parts[2], name.split(".")[2])
    ]
    assert (rooms, backwards) == ({*PIPELINE}, [])


def may_be_read(room: str, name: str) -> bool:
    """Say whether a room may import what lies in agent/intents under a name."""
    return name in {"intent", "dialog_state", *PIPELINE[: PIPELINE.index(room) + 1]}


def test_what_audio_and_memory_share_is_one_file() -> None:
    shared = [path for path in (ROOT / "audio").rglob("*.py") if path.is_symlink()]
    names = ("backoff", "chinese", "egress", "trust")
    assert {path.resolve() for path in shared} == {ROOT / f"memory/{name}.py" for name in names}


def test_nothing_imports_the_tests() -> None:
    assert [str(path) for path in sources() for name, _ in imports(path) if name.split(".")[0] == "tests"] == []


ADAPTED = HEAVY - {"av", "onnxruntime", "wyoming"}
"""All but PyAV, which decodes in one place and resamples in another, onnxruntime, which hears and remembers, and
wyoming, whose events ears and mouth each have their own of."""


PART_OF = {"appliance/http/compat": "appliance/http"}
"""Folders that are one adapter with the one they lie in."""


def adapter(path: Path) -> str:
    """Return what a file belongs to: itself, or the folder inside a package that it is a part of."""
    folder = str(path if len(path.parts) == 2 else path.parent)
    return PART_OF.get(folder, folder)


def test_a_heavy_library_is_imported_in_one_adapter_of_a_package() -> None:
    users = defaultdict(set)
    for path in sources():
        for name, line in imports(path):
            if (library := name.split(".")[0]) in ADAPTED and not is_for_types_only(path, line):
                users[library, path.parts[0]].add(adapter(path))
    assert {library: where for library, where in users.items() if len(outermost(where)) > 1} == {}


def outermost(places: set[str]) -> set[str]:
    """Return the places that lie in no other one of them."""
    return {each for each in places if not any(each.startswith(f"{other}/") for other in places)}


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules a fresh interpreter holds after a statement."""
    program = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_is_light(package: str) -> None:
    assert loaded_by(f"import {package}") & (HEAVY | {"numpy", "pydantic", "httpx"}) == set()


def test_help_is_light() -> None:
    shown = loaded_by("from appliance.cli.main import main\nassert main(['--help']) == 0")
    assert shown & (HEAVY | {"numpy", "pydantic", "httpx"}) == set()


def test_a_command_that_asks_the_service_loads_none_of_its_mind() -> None:
    within = "{name for name in sys.modules if name.startswith(('agent.mailbox', 'agent.run', 'agent.loop'))}"
    loaded_by(f"import appliance.api.client, appliance.cli.look_after.status, sys\nassert {within} == set()")


@pytest.mark.shows("H9")
def test_the_service_starts_without_what_can_come_once_it_listens() -> None:
    later = HEAVY - {"av"} | {"aiohttp", "mcp", "zeroconf"}
    assert loaded_by("import appliance.wiring.box, appliance.service") & later == set()
    only_for_speaking = "{name for name in sys.modules if name.startswith('audio.tts.verbalize.')}"
    loaded_by(f"import appliance.wiring.box, appliance.service, sys\nassert {only_for_speaking} == set()")


@pytest.mark.shows("H9")
def test_the_microphone_records_before_the_mind_is_loaded() -> None:
    """`service.run` begins to record with what importing `service` loads, and imports the rest behind that."""
    rest = HEAVY | {"agent", "memory", "httpx", "aiohttp", "zeroconf"}
    assert loaded_by("import appliance.service, audio.capture.microphone") & rest == set()


def test_the_check_can_fail() -> None:
    assert "hassil" in loaded_by("import hassil")
