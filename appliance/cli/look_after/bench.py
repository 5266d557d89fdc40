"""Commands that measure with the model that is configured."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from appliance.cli.root import NAME, configured, nakari
from appliance.cli.terminal import FAINT, confirm, progress, require_somebody, show, table
from appliance.config.options import Invocation

if TYPE_CHECKING:
    from agent.model.chain import Prices
    from appliance.bench.rehearsal import Lived
    from appliance.config.agent.models import NamedModel
    from appliance.config.load import Config


@nakari.group(no_args_is_help=False)
def bench() -> None:
    """Measure with the model that is configured."""


@bench.command("self")
@click.option("--model", "name", type=NAME, metavar="NAME", help='One of [models.NAME], or "configured".')
@click.option("--weeks", type=click.IntRange(1, 26), default=2, show_default=True, help="How long the life is.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Which life.")
@click.option("--wrong", "shows_wrong", is_flag=True, help="Print each wrong answer.")
@click.option("--yes", is_flag=True, help="Do not ask whether the cost is meant.")
@click.pass_obj
def bench_self(
    invocation: Invocation, name: str | None, weeks: int, seed: int, *, shows_wrong: bool, yes: bool
) -> None:
    """Let it live a made-up life, and ask it what it knows of it.

    A household of four speaks with it for some weeks, in English and Chinese: who lives where and does what, what
    changes, what was wrong, what is to be forgotten at once. Then it is asked what is so now, what was before, since
    when, who said it, and what nobody ever said.

    It has a memory of its own for that, which is gone afterwards; the household's is neither read nor written, and
    nothing acts on the house. Time leaps from one conversation to the next, so that it takes as long as the model
    does. What it will cost is said first, and asked; a script says --yes. Ctrl-C ends it, and prints what there is.
    """
    config = _with_model(configured(invocation), name)

    from appliance.bench.generator import Examination, Generator
    from appliance.bench.rehearsal import Lived, rehearse
    from appliance.bench.report import estimate

    begins = (datetime.now(config.zone) - timedelta(weeks=weeks)).date()
    life = Generator(seed, weeks, begins, config.zone).life(Examination())
    chosen = _chosen(config)
    for line in estimate(life, config.mind.compress_above_tokens).lines(*chosen):
        show(line, err=True)
    if not yes:
        require_somebody("this costs what is said above")
        confirm("Is that meant?")
    lived = Lived()
    try:
        with progress("living") as told:
            rehearse(config, life, lived, told)
    finally:
        with suppress(BrokenPipeError):
            _report(lived, shows_wrong=shows_wrong)


def _with_model(config: "Config", name: str | None) -> "Config":
    """Return the configuration with one model that thinks, and nobody to fall back on: one model is measured."""
    from appliance.model.choose import CONFIGURED, OFFLINE

    chosen = name or config.model.use or CONFIGURED
    if chosen == OFFLINE or (chosen == CONFIGURED and config.model.provider == OFFLINE):
        raise click.UsageError("the offline model keeps nothing of what it is told; configure one that thinks")
    if chosen == CONFIGURED:
        return replace(config, model=replace(config.model, use="", fallbacks=""), models={})
    if chosen not in config.models:
        known = ", ".join([CONFIGURED, *config.models])
        raise click.BadParameter(f"there is no model {chosen!r}; take one of: {known}", param_hint="--model")
    alone = {chosen: config.models[chosen]}
    return replace(config, model=replace(config.model, use=chosen, fallbacks=""), models=alone)


def _chosen(config: "Config") -> tuple[str, "Prices"]:
    """Return the name of the model that thinks, for people, and what it costs."""
    from appliance.model.choose import CONFIGURED, prices_of

    used = config.model.use
    settings: NamedModel = config.models[used] if used else config.model
    return settings.name or used or CONFIGURED, prices_of(settings)


def _report(lived: "Lived", *, shows_wrong: bool) -> None:
    from appliance.bench.report import closing, rows, wrong

    if not lived.verdicts:
        return
    table(rows(lived), ("asked", "right", ""))
    for line in closing(lived):
        show(line)
    if shows_wrong:
        table(wrong(lived), ("question", "answer", "expected"), styles=("", FAINT))
