"""`nakari voices`: whose voices are kept, and forgetting one."""

from typing import TYPE_CHECKING

import click

from appliance.cli.root import TEXT, configured, nakari
from appliance.cli.telling import AS_JSON, tell_json
from appliance.cli.terminal import STRONG, show, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem

if TYPE_CHECKING:
    from appliance.speakers.store import VoiceStore


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
