"""Commands that look back: why something was said or was slow, how long turns took, and a recorded turn run again."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from appliance.cli.root import NAME, WORDS, configured, nakari
from appliance.cli.telling import AS_JSON, LINES, asked, tell_json
from appliance.cli.terminal import FAINT, STRONG, show, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.config.load import Config
    from appliance.config.sections import EarsSettings
    from appliance.insight.insight import Insight
    from appliance.recorder.recording import Recording
    from appliance.recorder.replay import Difference


@nakari.command()
@click.argument("words", nargs=-1, type=WORDS, metavar="[WHAT]")
@click.option("--slow", is_flag=True, help="Why that turn was slow: an id of its event or run; the last if not given.")
@AS_JSON
@click.pass_obj
def why(invocation: Invocation, words: tuple[str, ...], slow: bool, as_json: bool) -> None:
    """Tell what something that was said came of.

    WHAT are some of its words, or an id of an event, a run or a call: the event, what the models and the tools were
    asked and gave, what was heard, and what it cost.
    """
    from appliance.insight.insight import lines_of
    from appliance.insight.telling import step_rows

    what = " ".join(words)
    if not what and not slow:
        raise click.UsageError("say what: some words of it, or an id; --slow alone means the last turn")
    config = configured(invocation)
    if slow:
        told = _asked(config, {"do": "turn", "id": what or None}, lambda insight, whose: insight.turn(whose, what))
    else:
        told = _asked(config, {"do": "why", "what": what}, lambda insight, whose: insight.why(whose, what))
    if as_json:
        tell_json(told)
    elif slow:
        show(str(told["why"]))
        table(step_rows(told), ("step", "seconds", "usually"), styles=(STRONG,))
    else:
        table(list(lines_of(told)), styles=(STRONG,))


@nakari.command()
@LINES
@AS_JSON
@click.pass_obj
def turns(invocation: Invocation, lines: int, as_json: bool) -> None:
    """List the last turns, with the seconds of each of their steps."""
    config = configured(invocation)
    told = _asked(config, {"do": "turns", "last": lines}, lambda insight, whose: insight.turns(whose, lines))
    if as_json:
        tell_json(told)
        return
    from appliance.insight.telling import TURN_COLUMNS, turn_rows, usual_rows

    if rows := turn_rows(told, config.zone):
        table([*rows, *usual_rows(told)], TURN_COLUMNS, styles=(FAINT, STRONG))
    else:
        show("there was no turn yet")


@nakari.command()
@click.argument("turn", type=NAME, required=False)
@click.option("--set", "changes", type=WORDS, multiple=True, metavar="KEY=VALUE", help="Another setting of [ears].")
@AS_JSON
@click.pass_obj
def replay(invocation: Invocation, turn: str | None, changes: "Sequence[str]", as_json: bool) -> None:
    """Run a recorded turn again with other settings, beside it.

    TURN is its id, the beginning of that, or "last"; without one the recordings are listed. They are kept where
    [recorder] turns says how many.
    """
    import asyncio

    from appliance.recorder.store import recordings_in

    config = configured(invocation)
    recordings = recordings_in(config.state_folder, config.recorder, config.state)
    if turn is None:
        _list(recordings.listed(), as_json=as_json)
        return
    recording = recordings.find(turn)
    rows = asyncio.run(_replayed(config, recording, changes))
    if as_json:
        told = [{"name": row.name, "recorded": row.recorded, "replayed": row.replayed} for row in rows]
        is_same = all(row.is_same for row in rows)
        tell_json({"id": recording.id, "same": is_same, "decisions": told})
    else:
        marked = [("" if row.is_same else "*", row.name, _short(row.recorded), _short(row.replayed)) for row in rows]
        table(marked, ("", "decision", "recorded", "replayed"), styles=("", STRONG))


def _list(found: "Sequence[Recording]", *, as_json: bool) -> None:
    if as_json:
        tell_json({"recordings": [each.about() for each in found]})
    elif not found:
        show("nothing is recorded; [recorder] turns = 20 has the next turns kept")
    else:
        table([_line(each) for each in found], ("began", "seconds", "id", "what was heard"), styles=(STRONG,))


def _asked(
    config: "Config", request: dict[str, Json], here: "Callable[[Insight, str], Awaitable[dict[str, Json]]]"
) -> dict[str, Json]:
    """Ask the running service; where there is none, look into the journal here."""

    async def alone() -> dict[str, Json]:
        from agent.event import HOUSEHOLD
        from appliance.insight.insight import insight_beside
        from appliance.recorder.store import recordings_in

        recordings = recordings_in(config.state_folder, config.recorder, config.state)
        async with insight_beside(config.state_folder, recordings) as insight:
            return await here(insight, HOUSEHOLD)

    return asked(config, {name: value for name, value in request.items() if value is not None}, alone)


async def _replayed(config: "Config", recording: "Recording", changes: "Sequence[str]") -> "list[Difference]":
    from appliance.input.hearing.choose import choose_recognizer, hearing_settings
    from appliance.recorder.replay import compared
    from appliance.recorder.replay import replay as run_again
    from audio.turns.vad import load_detector

    ears = _changed(recording, changes)
    settings = hearing_settings(replace(config, ears=ears))
    hearing = choose_recognizer(settings, lambda language: recording.names, tells=False)
    return compared(recording, await run_again(recording, ears, hearing.recognizer, load_detector))


def _changed(recording: "Recording", changes: "Sequence[str]") -> "EarsSettings":
    """Return the recorded settings of the ears with the changes. Raises `Problem` for one that means nothing here."""
    from appliance.recorder.replay import ears_with

    for change in changes:
        if "=" not in change:
            raise Problem(f"--set {change}: write KEY=VALUE, such as ears.commit_silence=0.5", Exit.USAGE)
    return ears_with(recording.settings, [change.split("=", 1) for change in changes])


def _line(recording: "Recording") -> "Sequence[str]":
    reason = recording.decided.get("reason")
    words = f"{recording.decided.get('text')}{f'  ({reason})' if reason else ''}"
    return recording.began[:19].replace("T", " "), f"{recording.seconds:.1f}", recording.id, words


def _short(value: Json) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-" if value is None else str(value)
