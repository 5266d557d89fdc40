"""Commands about models: those that hear, and the one that thinks."""

from pathlib import Path

import click

from appliance.cli.root import NAME, PATH, WORDS, configured, nakari
from appliance.cli.telling import AS_JSON, asked
from appliance.config.options import Invocation


@nakari.group(no_args_is_help=False)
def models() -> None:
    """List, fetch and measure the models that hear."""


@models.command("list")
@click.option("--measure", is_flag=True, help="Measure how fast the ones that are here are on this box.")
@AS_JSON
@click.pass_obj
def list_models(invocation: Invocation, *, measure: bool, as_json: bool) -> None:
    """Print the Whisper models: which are here, and which listens.

    With its size, and how fast it is on this box where that was measured.
    """
    config = configured(invocation)
    from appliance.input.whisper import models as whisper_models
    from appliance.input.whisper.choice import whisper_settings

    whisper_models.show(whisper_settings(config), measure=measure, as_json=as_json)


@models.command()
@click.argument("name", type=WORDS)
@click.option("--folder", type=PATH, metavar="FOLDER", help="Put it there, not into the state folder.")
@click.pass_obj
def pull(invocation: Invocation, name: str, folder: Path | None) -> None:
    """Fetch the model NAME from the Hugging Face hub.

    A Whisper model, or the one that compares by meaning. Stopped, it goes on from where it was; nothing but a whole,
    checked model ever stands in its place. "auto" fetches the usual one if none is here, measures the box and
    remembers the best.
    """
    config = configured(invocation)
    from appliance.input.whisper import models as whisper_models
    from appliance.input.whisper.choice import whisper_settings

    if name not in whisper_models.KNOWN:
        known = f"{', '.join(whisper_models.KNOWN)}, the last of which compares by meaning"
        raise click.BadParameter(f"there is no model {name!r}; take {known}", param_hint="NAME")
    whisper_models.pull(whisper_settings(config), name, folder)


@nakari.group(no_args_is_help=False)
def model() -> None:
    """Choose the model that thinks."""


@model.command()
@click.argument("name", type=NAME)
@click.pass_obj
def use(invocation: Invocation, name: str) -> None:
    """Let the model NAME think from the next event on.

    NAME is one of [models.NAME], or "configured" (that of [model]), or "offline". It stays so over restarts; `nakari
    status` tells who thinks, and what it cost.
    """
    click.echo(asked(configured(invocation), {"do": "model", "use": name}, patience=5.0)["done"])
