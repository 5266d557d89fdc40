"""Commands that look after the models that hear."""

from pathlib import Path

import click

from appliance.commands.root import PATH, configured, nakari
from appliance.exits import Exit
from appliance.options import Invocation


@nakari.group(no_args_is_help=False)
def models() -> None:
    """List, fetch and measure the models that hear."""


@models.command("list")
@click.option("--measure", is_flag=True, help="Measure how fast the ones that are here are on this box.")
@click.pass_obj
def list_models(invocation: Invocation, measure: bool) -> Exit:
    """Print the Whisper models: size, whether it is here, how fast, which one listens."""
    config = configured(invocation)
    from appliance.hearing import whisper_models

    return whisper_models.show(config, measure=measure)


@models.command()
@click.argument("name")
@click.option("--folder", type=PATH, metavar="FOLDER", help="Put it there, not into the state folder.")
@click.pass_obj
def pull(invocation: Invocation, name: str, folder: Path | None) -> Exit:
    """Fetch the Whisper model NAME, or the model that compares by meaning, from the Hugging Face hub.

    Stopped, it goes on from where it was; nothing but a whole, checked model ever stands in its place. "auto" fetches
    the usual one if none is here, measures the box and remembers the best.
    """
    config = configured(invocation)
    from appliance.hearing import whisper_models

    return whisper_models.pull(config, name, folder)
