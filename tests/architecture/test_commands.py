"""Every command that a document shows is one that there is: its words, options and values are the program's own."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from appliance.cli import nakari
from tests.architecture.documents import Command, commands, pages, shown_commands
from tests.architecture.source import ROOT

REALLY_RUN = {
    "join": "tests/appliance/machines/joining/test_joining.py",
    "machines": "tests/appliance/machines/joining/test_joining.py",
    "ask": "tests/service/test_bad_input.py",
    "backup": "tests/service/test_backup_live.py",
    "bench": "tests/service/test_bench_self.py",
    "calibrate": "tests/appliance/cli/listen/test_calibrate.py",
    "chat": "tests/appliance/cli/talk/test_conversation.py",
    "completion": "tests/appliance/cli/test_help.py",
    "config": "tests/appliance/cli/test_cli.py",
    "demo": "tests/service/test_fresh_clone.py",
    "devices": "tests/appliance/cli/listen/test_devices_command.py",
    "doctor": "tests/appliance/cli/test_cli.py",
    "events": "tests/appliance/cli/remember/test_events_command.py",
    "forget": "tests/service/test_forget_command.py",
    "handover": "tests/service/test_standby.py",
    "hear": "tests/service/process.py",
    "heard": "tests/appliance/input/test_heard.py",
    "help": "tests/appliance/cli/test_help.py",
    "identity": "tests/appliance/cli/choose/test_identity_command.py",
    "journal": "tests/appliance/cli/remember/test_journal_command.py",
    "logs": "tests/appliance/logs/test_logs_service.py",
    "mailbox": "tests/service/test_timers.py",
    "mcp": "tests/appliance/admin/test_mcp.py",
    "memory": "tests/service/test_moving.py",
    "model": "tests/service/test_model_use.py",
    "models": "tests/appliance/cli/choose/test_models_command.py",
    "mute": "tests/service/test_reflexes.py",
    "replay": "tests/appliance/cli/look_after/test_insight_commands.py",
    "restore": "tests/service/test_backup_live.py",
    "run": "tests/service/test_room.py",
    "satellite": "tests/appliance/cli/listen/test_satellite_command.py",
    "say": "tests/service/test_offline_voice.py",
    "settings": "tests/service/test_own_settings.py",
    "status": "tests/service/test_room.py",
    "stop": "tests/appliance/cli/test_cli.py",
    "token": "tests/appliance/cli/choose/test_token_command.py",
    "timers": "tests/appliance/cli/talk/test_conversation.py",
    "turns": "tests/appliance/cli/look_after/test_insight_commands.py",
    "unmute": "tests/service/test_reflexes.py",
    "volume": "tests/service/test_reflexes.py",
    "voices": "tests/appliance/speakers/test_voices_command.py",
    "why": "tests/appliance/cli/look_after/test_insight_commands.py",
}
"""The commands, each with a test that starts it as a process and looks at what it did."""

OTHER_PROGRAMS = {
    *(
        "cd",
        "cp",
        "curl",
        "echo",
        "git",
        "gpg",
        "journalctl",
        "jq",
        "mkdir",
        "podman",
        "python",
        "sha256sum",
        "socat",
        "systemctl",
        "systemd-analyze",
    ),
    *(
        "apt",
        "chown",
        "install",
        "loginctl",
        "openssl",
        "sudoedit",
        "tee",
        "touch",
        "update-ca-certificates",
        "usermod",
    ),
}
"""What else a block may start: a misspelt name of ours is none of these."""

SHOWN = sorted({command for page in pages() for command in commands(page)})


@pytest.mark.parametrize("page", sorted({command.page for command in SHOWN}), ids=str)
def test_every_command_of_a_page_is_one_that_there_is(page: Path) -> None:
    wrong = [f"{each.line}: {told}" for each in SHOWN if each.page == page and (told := wrong_with(each))]
    assert wrong == []


def test_every_command_is_started_by_a_test() -> None:
    assert set(REALLY_RUN) == shown_commands()
    for name, test in REALLY_RUN.items():
        assert re.search(rf"\"{name}\"|nakari {name}\b|run {name}\b", (ROOT / test).read_text(encoding="utf-8")), (
            name,
            test,
        )


def wrong_with(command: Command) -> str:
    """Return what is wrong with a command, "" when nothing is."""
    program, *arguments = command.words
    if program == "nakari":
        return wrong_with_nakari(arguments, is_example=command.is_example)
    if program.startswith("scripts/"):
        return wrong_with_script(program, arguments, is_example=command.is_example)
    return "" if program in OTHER_PROGRAMS else f"no program {program}"


def wrong_with_script(program: str, arguments: Sequence[str], *, is_example: bool) -> str:
    """Return what is wrong with a script or its options."""
    script = ROOT / program
    if not script.exists():
        return f"no script {program}"
    if program == "scripts/run":
        return wrong_with_nakari(arguments or ["run"], is_example=is_example)
    text = script.read_text(encoding="utf-8") + (ROOT / "benchmarks/__main__.py").read_text(encoding="utf-8")
    passed_on = program == "scripts/test"
    unknown = [word for word in arguments if word.startswith("--") and word not in text and not passed_on]
    return f"no option {', '.join(unknown)}" if unknown else ""


def wrong_with_nakari(arguments: Sequence[str], *, is_example: bool) -> str:
    """Return what click would refuse of a command line: it is parsed, and not run."""
    command: click.Command = nakari
    context, rest = click.Context(command, info_name="nakari"), list(arguments)
    try:
        while True:
            values, rest, _ = command.make_parser(context).parse_args(rest)
            if not isinstance(command, click.Group) or not rest:
                break
            name, *rest = rest
            inner = command.get_command(context, name)
            if inner is None and name.isupper() and not is_example:
                return ""
            if inner is None:
                return f"{context.command_path} has no command {name}"
            command, context = inner, click.Context(inner, info_name=name, parent=context)
    except click.BadOptionUsage as error:
        return error.format_message() if is_example else ""  # a sentence may name an option without its value
    except click.UsageError as error:
        return error.format_message()
    if rest:
        return f"too much: {' '.join(rest)}"
    return missing(command, values) if is_example else ""


def missing(command: click.Command, values: dict[str, object]) -> str:
    """Return which arguments a complete command lacks; a group that needs a command is not complete."""
    if isinstance(command, click.Group):
        return "" if command.invoke_without_command or "help" in values else "names no command of the group"
    absent = [
        each.human_readable_name
        for each in command.params
        if isinstance(each, click.Argument)
        and each.required
        and not isinstance(values.get(each.name or ""), str | tuple | list)
    ]
    return f"lacks {', '.join(absent)}" if absent else ""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nakari aks hello", "has no command aks"),
        ("nakari status --jsn", "No such option"),
        ("nakari memory snapshoot", "nakari memory has no command snapshoot"),
        ("nakari backup", "lacks FILE"),
        ("nakari mute now", "too much: now"),
        ("scripts/rnu demo", "no script scripts/rnu"),
        ("scripts/uninstall --purgee", "no option --purgee"),
        ("nakary status", "no program nakary"),
    ],
)
def test_a_wrong_command_is_told(line: str, told: str) -> None:
    assert told in wrong_with(Command(Path("x.md"), line, tuple(shlex.split(line)), is_example=True))


@pytest.mark.parametrize(
    "line", ["nakari ask what time is it", "nakari memory query 'RETURN 1'", "scripts/run demo", "nakari --version"]
)
def test_a_right_command_is_not(line: str) -> None:
    command = Command(Path("x.md"), line, tuple(shlex.split(line)), is_example=line != "nakari --version")
    assert wrong_with(command) == ""


def test_documents_show_commands_at_all() -> None:
    assert len([command for command in SHOWN if command.is_example]) > 20
    assert {
        command.words[1] for command in SHOWN if command.words[0] == "nakari" and len(command.words) > 1
    } >= shown_commands()
