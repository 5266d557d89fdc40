"""`nakari models`: which Whisper models there are, which are here and which listens; fetches and measures them."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TextIO

import click

from appliance.hints import typed_here
from appliance.input.whisper.choice import (
    AUTO,
    USUAL_MODEL,
    Measured,
    Pick,
    WhisperSettings,
    candidates,
    is_to_be_measured,
    measure_box,
    pick,
    recall,
)
from appliance.input.whisper.short_window import compare_box, described
from appliance.input.whisper.short_window import recall as verdict_on
from appliance.model import sentence as sentence_model
from audio.errors import AudioError
from audio.recognizer.models.catalog import MEGABYTES, MODELS, PART, Model, find_model, models_in
from audio.recognizer.models.hub import fetch, whisper_model
from audio.recognizer.models.speed import BOUND, Measurement
from memory.json_value import Json

KNOWN: Final = (AUTO, *MODELS, sentence_model.NAME)
"""What can be pulled, by name."""


def pull(settings: WhisperSettings, name: str, folder: Path | None) -> None:
    """Fetch a model, telling how far it is; "auto" fetches the usual one where none is here, and measures the box.

    `folder` takes the place of the state folder's models. Raises `ModelNotFound`, `OSError` when it cannot be written,
    and `UsageError` for "auto" in a folder.
    """
    if name == AUTO:
        if folder:
            raise click.UsageError("auto chooses among the models of the state folder: name one to put it elsewhere")
        if not candidates(settings):
            _fetch(USUAL_MODEL, settings.models_folder)
        measured = recall(settings) or _measure(settings)
        picked = pick(settings)
        if picked and verdict_on(settings, picked) is None:
            _compare(settings, picked)
        _tell_best(measured)
        return
    place, compares = folder or settings.models_folder, name == sentence_model.NAME
    if sentence_model.wanted().is_in(place / name) if compares else find_model(place / name):
        click.echo(f"{place / name} is here already; remove it to fetch it anew")
        return
    found = _fetch(name, place)
    if compares:
        click.echo('nakari compares by meaning with it from now on, where [memory] embeddings is "auto"')
    elif folder:
        click.echo(f'to listen with it: [ears] model = "{found.absolute()}"')
    elif settings.ears.model in (AUTO, name):
        click.echo("a running nakari listens with it, if it is the best, after a restart")
    else:
        click.echo(f'to listen with it: [ears] model = "{name}"')


def show(settings: WhisperSettings, *, measure: bool, as_json: bool) -> None:
    """Print the models, one a line; with `measure` how fast the ones that are here are. Raises `ModelNotFound`."""
    if measure:
        picked = pick(settings)
        if picked is None or candidates(settings):
            _measure(settings)
            picked = pick(settings)
        if picked:
            _compare(settings, picked)
    if as_json:
        click.echo(json.dumps({"models": _described(settings)}, ensure_ascii=False))
    else:
        click.echo("\n".join(lines(settings)))


def _described(settings: WhisperSettings) -> list[dict[str, Json]]:
    """Return name, size, whether it is here and whether it listens of each model that hears."""
    here = {model.name: model for model in models_in(settings.models_folder)}
    picked, measured = pick(settings), recall(settings)
    speeds = fastest(measured) if measured else {}
    told: list[dict[str, Json]] = []
    for name in [*MEGABYTES, *sorted(here.keys() - MEGABYTES.keys())]:
        found = here.get(name)
        listens = found is not None and picked is not None and picked.folder == found.folder
        size = round(found.size / 1e6) if found else MEGABYTES[name]
        one: dict[str, Json] = {"name": name, "megabytes": size, "is_here": found is not None, "listens": listens}
        told.append(one | ({"seconds_per_second": round(speeds[name].factor, 2)} if name in speeds else {}))
    return told


def lines(settings: WhisperSettings) -> Iterator[str]:
    """Yield the table: name, size, whether it is here, how fast it is, whether it listens."""
    folder, picked, measured = settings.models_folder, pick(settings), recall(settings)
    speeds = fastest(measured) if measured else {}
    for each in _described(settings):
        name = str(each["name"])
        facts = ["here" if each["is_here"] else _how_much_of(folder / f"{name}{PART}")]
        if name in speeds:
            facts.append(f"{speeds[name].factor:.2f} s for a second of speech, {_in_words(speeds[name].threads)}")
        if each["listens"]:
            facts.append("listens")
        yield f"{name:<12}{each['megabytes']:>5} MB  {', '.join(facts)}"
    is_here = sentence_model.wanted().is_in(settings.models_folder / sentence_model.NAME)
    there = "here" if is_here else "not here"
    yield f"{sentence_model.NAME}  {sentence_model.MEGABYTES} MB  {there}, compares texts by meaning"
    if picked is None:
        what = "none of them listens: the small English recognizer does"
        yield typed_here(f"{what}; `nakari models pull auto` fetches one")
    elif picked.folder.parent != folder:
        yield f"{picked.folder} listens"
    elif is_to_be_measured(settings):
        yield "the box is not measured yet: `nakari models list --measure` does it, nakari does it soon after its start"


def fastest(measured: Measured) -> dict[str, Measurement]:
    """Return for each model the measurement that counts: the choice, else its fastest."""
    best = measured.best
    by_factor = sorted(measured.measurements, key=lambda each: -each.factor)
    return {each.model: each for each in by_factor} | {best.model: best}


def _in_words(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"


def _how_much_of(part: Path) -> str:
    if part.is_dir():
        return f"{sum(file.stat().st_size for file in part.iterdir()) / 1e6:.1f} MB of it are here; pull goes on"
    return "not here"


def _fetch(name: str, folder: Path) -> Path:
    progress = FetchProgress(name, sys.stdout)
    try:
        wanted = sentence_model.wanted() if name == sentence_model.NAME else whisper_model(name)
        found = fetch(wanted, folder, progress)
    except KeyboardInterrupt:
        progress.end()
        click.echo("stopped; what has come is kept, and the same command goes on from there", err=True)
        raise
    finally:
        progress.end()
    click.echo(f"{name} is in {found}, whole and checked")
    return found


def _measure(settings: WhisperSettings) -> Measured:
    def tell(measurement: Measurement) -> None:
        what = f"{measurement.model} with {_in_words(measurement.threads)}"
        click.echo(f"measured {what}: {measurement.factor:.2f} s for a second of speech")

    def skip(model: Model, error: AudioError) -> None:
        click.echo(f"left out {model.name}: {error}")

    return measure_box(settings, tell, skip)


def _compare(settings: WhisperSettings, picked: Pick) -> None:
    """Compare the two windows of the model that listens, telling how far it is, and what follows."""
    click.echo(f"comparing the short window of {picked.folder.name} with the whole one; Ctrl-C leaves it as it was")
    verdict = compare_box(settings, picked, lambda so_far: click.echo(f"  {described(so_far)}"))
    follows = "used" if verdict.comparison.is_for_short else "not used, unless [ears] short_window says so"
    click.echo(f"the short window is {follows}: {described(verdict.comparison)}")


def _tell_best(measured: Measured) -> None:
    best = measured.best
    verdict = "" if best.factor < BOUND else f"; below {BOUND:g} s would be better, a smaller model may be"
    click.echo(f"chosen: {best.model}, {_in_words(best.threads)}, {best.factor:.2f} s for a second of speech{verdict}")


REWRITE_SECONDS: Final = 0.2
"""Between two looks of the line on a terminal."""


class FetchProgress:
    """Writes how far the fetch of one model is. Is an `audio.recognizer.models.hub.Audience`."""

    def __init__(self, name: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._began: tuple[float, int] | None = None
        """When bytes began to come, and how many were here then."""
        self._shown = (-1.0, -1)
        """When a line was written last, and at which tenth."""
        self._width = 0
        """Of the line that stands on the terminal."""

    def waits(self) -> None:
        """Say that somebody else is at it."""
        self._write(f"another nakari is fetching into the same folder; {self._name} waits for it")
        self.end()

    def has(self, here: int, in_all: int) -> None:
        """Write a line if it is time for one."""
        now = self._clock()
        began, first = self._began = self._began or (now, here)
        tenth, is_whole = here * 10 // max(in_all, 1), here == in_all
        last_at, last_tenth = self._shown
        is_due = now - last_at >= REWRITE_SECONDS if self._is_terminal else tenth != last_tenth
        if is_due or (is_whole and self._is_terminal):
            self._shown = (now, tenth)
            rate = max(here - first, 0) / (now - began) if now > began else 0.0
            self._write(progress_line(self._name, here, in_all, rate))

    def end(self) -> None:
        """Leave the line as it is; what follows stands below."""
        if self._width:
            self._stream.write("\n")
            self._width = 0

    def _write(self, line: str) -> None:
        if self._is_terminal:
            self._stream.write(f"\r{line:<{self._width}}")
            self._width = len(line)
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def progress_line(name: str, here: int, in_all: int, rate: float) -> str:
    """Return how far it is; `rate` in bytes a second, 0 when it is not known yet."""
    line = f"{name}: {here / 1e6:.1f} of {in_all / 1e6:.1f} MB, {here * 100 // max(in_all, 1)} %"
    if rate and here < in_all:
        line += f", {rate / 1e6:.1f} MB/s, {duration((in_all - here) / rate)} left"
    return line


def duration(seconds: float) -> str:
    """Return a time for people, rounded up: `8 s`, `2 min`, `3 h 20 min`."""
    whole = int(seconds) + 1
    if whole < 100:
        return f"{whole} s"
    minutes = whole // 60 + 1
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
