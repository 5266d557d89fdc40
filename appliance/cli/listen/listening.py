"""Commands about what it hears: its ears on and off, what was heard, devices, echo, voices; and silence at once."""

import json
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from appliance.cli.root import TEXT, configured, loaded, nakari
from appliance.cli.telling import AS_JSON, LINES, asked, tell_json
from appliance.cli.terminal import STRONG, progress, show, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from appliance.hints import typed_here
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.speakers.store import VoiceStore

PATIENCE_SECONDS = 40.0
"""How long measuring an echo may take, with the sentence under way before it."""


@nakari.command()
@click.pass_obj
def mute(invocation: Invocation) -> None:
    """Switch its ears off.

    They stay off, over restarts, for [reflexes] mute_minutes (an hour), or until `nakari unmute`, a typed "unmute" or
    the wake word, where there is one.
    """
    _tell(invocation, {"do": "hush", "what": "mute"})


@nakari.command()
@click.pass_obj
def unmute(invocation: Invocation) -> None:
    """Switch its ears on again."""
    _tell(invocation, {"do": "hush", "what": "unmute"})


@nakari.command()
@click.pass_obj
def stop(invocation: Invocation) -> None:
    """Silence what rings, what it says, and what it is about to."""
    _tell(invocation, {"do": "hush", "what": "stop"})


@nakari.command(hidden=True)
@click.pass_obj
def hush(invocation: Invocation) -> None:
    """Do what `nakari stop` does, whose name this was."""
    _tell(invocation, {"do": "hush", "what": "stop"})


@nakari.command(context_settings={"ignore_unknown_options": True})  # -5 is no option, and no volume
@click.argument("level", default="", metavar="[0-100|up|down]")
@click.pass_obj
def volume(invocation: Invocation, level: str) -> None:
    """Say how loud it speaks, or set it.

    In percent, or a step `up` or `down`; it stays so over restarts.
    """
    steps = {"up": "louder", "down": "quieter"}
    if level in steps:
        _tell(invocation, {"do": "hush", "what": steps[level]})
    elif level:
        if not level.removesuffix("%").isdecimal() or int(level.removesuffix("%")) > 100:
            raise click.BadParameter(f"{level} is no volume; give 0 to 100, up or down")
        _tell(invocation, {"do": "hush", "what": "volume", "percent": int(level.removesuffix("%"))})
    else:
        reflexes = asked(configured(invocation), {"do": "status"}).get("reflexes")
        click.echo(f"The volume is {reflexes['volume'] if isinstance(reflexes, dict) else '?'} percent.")


@nakari.command()
@click.pass_obj
def calibrate(invocation: Invocation) -> None:
    """Measure what its microphone hears of its voice.

    It plays a short chime, and says how late and how loud its echo is, and how it listens while it speaks.
    """
    config = configured(invocation)
    with progress("measuring the echo"):
        answer = asked(config, {"do": "calibrate"}, patience=PATIENCE_SECONDS)
    click.echo(answer["done"])


@nakari.command()
@click.option("--test", is_flag=True, help="Play a tone on the chosen loudspeaker and measure the chosen microphone.")
@AS_JSON
@click.pass_obj
def devices(invocation: Invocation, test: bool, as_json: bool) -> Exit:
    """List microphones and loudspeakers; try the chosen ones.

    A part of a name is enough in [ears] device and [voice] device; names stay when numbers change at a reboot.
    Ends with 1 when a configured one is not there, or the test finds a fault.
    """
    config = configured(invocation, log="CRITICAL")  # its own lines tell it all
    from appliance.doctor.sound.sound import lines, tried

    told = tried(config, test=test)
    if as_json:
        found = [json.loads(line.to_json()) for line in told.found]
        tell_json({**asdict(told.devices), "found": found})
    else:
        click.echo(typed_here("\n".join(lines(told))))
    return Exit.FAULT if told.has_fault else Exit.OK


@nakari.command()
@LINES
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with the evidence.")
@click.pass_obj
def heard(invocation: Invocation, lines: int, as_json: bool) -> None:
    """List what was heard last, and what became of it.

    Turns that did not reach it have the reason. Read from the state folder; nakari need not run.
    """
    config = loaded(invocation)
    from appliance.input.heard_history import newest

    turns = newest(config.state_folder, lines)
    if as_json:
        tell_json({"turns": [turn.to_json() for turn in turns]})
        return
    for turn in turns:
        click.echo(turn.line(config.zone))
    if not turns:
        is_told = config.machines.role == "ears"  # what was said is the mind's to keep
        click.echo(
            "what is heard here the mind keeps: `nakari heard` there lists it" if is_told else "nothing heard yet"
        )


def _tell(invocation: Invocation, request: dict[str, Json]) -> None:
    click.echo(asked(configured(invocation), request)["done"] or "There was nothing to do.")


@nakari.group(invoke_without_command=True)
@click.pass_context
def voices(context: click.Context) -> None:
    """List the people known by voice, and forget one.

    A voice is learnt by talking: say "my name is Anna", and yes when nakari asks. It is kept in voices.json of the
    state folder, as figures that no sound can be made of; it leaves this machine with no backup. Nothing is permitted
    because of a voice.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_voices)


@voices.command("list")
@AS_JSON
@click.pass_obj
def list_voices(invocation: Invocation, as_json: bool = False) -> None:
    """List whose voices are kept, and by how many utterances each."""
    known = {name: len(samples) for name, samples in _store(invocation).known().items()}
    if as_json:
        tell_json(known)
    elif known:
        table([(name, str(count)) for name, count in known.items()], ("name", "utterances"), styles=(STRONG,))
    else:
        show('nobody is known by voice; say "my name is …" to nakari')


@voices.command("forget")
@click.argument("name", type=TEXT)
@click.pass_obj
def forget_voice(invocation: Invocation, name: str) -> None:
    """Forget the voice of NAME."""
    try:
        is_forgotten = _store(invocation).forget(name)
    except OSError as error:
        what = f"the voice could not be forgotten ({error.strerror}); run it as who may write the state folder"
        raise Problem(what, Exit.CANNOT_CREATE) from error
    if not is_forgotten:
        raise Problem(f"no voice is known as {name}; `nakari voices list` tells whose are", Exit.NO_INPUT)
    show(f"{name}'s voice is forgotten")


def _store(invocation: Invocation) -> "VoiceStore":
    from appliance.speakers.store import VoiceStore

    return VoiceStore(configured(invocation).state_folder)
