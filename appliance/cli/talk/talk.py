"""Commands that listen, speak and answer."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.cli.root import AS_KEY, PATH, WORDS, configured, nakari
from appliance.cli.telling import refuse_where_it_follows
from appliance.cli.terminal import is_terminal, print_pieces, settle, show
from appliance.config.network.machines import ROLES, Role, role_of
from appliance.config.options import Invocation, RunOptions
from appliance.errors import Exit, ServiceNotRunning

if TYPE_CHECKING:
    from appliance.api.outcome import Outcome
    from appliance.config.load import Config
    from appliance.wiring.box import Box


@nakari.command()
@click.option("--input", "recording", type=PATH, metavar="FILE.wav", help="Take a recording as the microphone.")
@click.option("--fast", is_flag=True, help="Do not wait for the recording's own pace.")
@click.option("--output", type=PATH, metavar="FILE.wav", help="Write what would be heard.")
@click.option("--once", is_flag=True, help="End after the conversation.")
@click.option(
    "--role",
    type=click.Choice(ROLES),
    help="What this machine does of what [machines] joins, instead of what stands there.",
)
@click.pass_obj
def run(
    invocation: Invocation, recording: Path | None, fast: bool, output: Path | None, once: bool, role: Role | None
) -> Exit:
    """Listen, think, answer: until it is stopped.

    On a terminal it shows what it hears and what it answers; what it logs besides is shown with [log] level = "debug".
    """
    is_seen = is_terminal() and is_terminal(sys.stderr)
    config = configured(invocation, log="WARNING" if is_seen else "DEBUG")
    from appliance import service

    options = RunOptions(input=recording, fast=fast, output=output, once=once, role=role)
    role_of(config.machines, role)
    if not is_seen:
        return service.run(config, options)

    async def watch(box: "Box") -> None:
        from appliance.cli.talk.live import show_conversation

        try:
            await show_conversation(box)
        except OSError:  # a terminal that is gone ends the showing, and its hang-up the service in good order
            settle(sys.stdout)

    return service.run(config, options, watch)


@nakari.command()
@click.option("--output", type=PATH, metavar="FILE.wav", help="Write the answer here.")
@click.pass_obj
def demo(invocation: Invocation, output: Path | None) -> Exit:
    """Show the main job on any machine, without sound hardware.

    A spoken question, made on the spot by a local voice, goes through everything and is answered aloud. Ends with 1
    when something else was heard than was meant.
    """
    config = configured(invocation, log="ERROR")  # what it prints tells who listened
    from appliance.cli.talk import demo as main_job

    return main_job.demo(config, output)


@nakari.command()
@click.argument("recording", type=PATH, metavar="FILE.wav")
@click.pass_obj
def hear(invocation: Invocation, recording: Path) -> None:
    """Print what a recording says, as JSON lines."""
    config = configured(invocation)
    from appliance.cli.talk import speech

    speech.hear(config, recording)


def _said(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str:
    if words == ("-",):
        words = (sys.stdin.buffer.read().decode(errors="surrogateescape").strip(),)
    return WORDS.convert(" ".join(words), parameter, context)


SAID = click.argument("text", nargs=-1, required=True, metavar="TEXT", callback=_said)
"""One text, whether its words are in quotes or not; "-" reads it from standard input."""


@nakari.command()
@SAID
@click.option("--output", type=PATH, metavar="FILE.wav", help="Write it here instead of saying it aloud.")
@click.pass_obj
def say(invocation: Invocation, text: str, output: Path | None) -> None:
    """Say TEXT aloud; "-" is standard input.

    The running service says it, behind what it says already; where there is none, this command does.
    """
    config = configured(invocation)
    from appliance.cli.talk import speech

    speech.say(config, text, output)


@nakari.command()
@SAID
@click.option("--speak", is_flag=True, help="Have the answer said in the room, too.")
@click.option(
    "--attach", "paths", type=PATH, multiple=True, metavar="FILE", help="An image or a document to ask about; up to 8."
)
@AS_KEY
@click.pass_obj
def ask(invocation: Invocation, text: str, key_file: Path | None, paths: tuple[Path, ...], speak: bool) -> Exit:
    """Ask in writing; the answer is printed as it comes.

    TEXT is read from standard input where it is "-".

    An attached image (PNG, JPEG, WebP, GIF) is shown to a model that sees; of a document (PDF, .docx, .odt, HTML, plain
    text) the model is given the text.

    The running service answers; where there is none, this command thinks by itself, once, for the household. Ctrl-C
    ends the answer there too.

    Ends with 69 when it waits for a model, 79 when it is put aside and goes on later, 1 when it was given up.
    """
    import asyncio

    config = configured(invocation)
    from agent.attachments.attachment import MOST_ATTACHED

    if len(paths) > MOST_ATTACHED:
        raise click.UsageError(f"at most {MOST_ATTACHED} files can be attached")
    if config.machines.role == "ears":
        show("(these are ears: their lists and timers are their own; the household has its own at the mind)", err=True)
    outcome = asyncio.run(_answer(config, text, key_file, paths, speak=speak))
    return outcome.exit if outcome else Exit.OK


@nakari.command()
@click.pass_obj
def chat(invocation: Invocation) -> None:
    """Talk with it in writing, line by line.

    All lines are one conversation. The running service answers; where there is none, this command thinks by itself.
    """
    config = configured(invocation)
    from appliance.cli.talk import live

    live.chat(config)


async def _answer(
    config: "Config", text: str, key_file: Path | None, paths: tuple[Path, ...], *, speak: bool
) -> "Outcome | None":
    """Print the answer of the running service, or of this process where there is none; Ctrl-C stops it there too."""
    from appliance.api.client import Question, given_files, read_key, service_of, service_that_came
    from memory.state.database import StateInUse

    key, files = b"" if key_file is None else read_key(key_file), given_files(paths)
    try:
        path = await service_of(config)
    except ServiceNotRunning:
        refuse_where_it_follows(config)
        if key or speak:
            raise
        from appliance.cli.talk.alone import ask_once

        try:
            return await print_pieces(ask_once(config, text, files))
        except StateInUse as in_use:
            path = await service_that_came(config, in_use)
    from appliance.cli.talk.asking import print_answer

    return await print_answer(path, Question(text, speak=speak, files=files), key)
