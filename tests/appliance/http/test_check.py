"""The doctor on HTTP: where it is answered, its certificate, and tokens."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.config.load import Config, load
from appliance.doctor.examine import Verdict
from appliance.http.check import ending, http, unanswered
from appliance.owners.owners import tokens_of
from memory.json_value import Json
from tests.appliance.http.listening.test_tls import write_certificate

pytestmark = pytest.mark.shows("F25", "H5")


def configured(folder: Path, text: str = "") -> Config:
    file = folder / "nakari.toml"
    file.write_text(f'[state]\nfolder = "{folder / "state"}"\n[http]\n{text}', encoding="utf-8")
    return load(file, {"HOME": str(folder)})


def test_it_says_where_it_is_answered_and_who_reaches_that(tmp_path: Path) -> None:
    line = http(configured(tmp_path))
    assert (line.verdict, line.what) == (
        Verdict.OK,
        "http at 127.0.0.1:8420; no other machine reaches it; 0 tokens",
    )
    assert http(configured(tmp_path, "enabled = false")).what == "off"


def test_an_open_address_without_a_token_lets_nobody_in_and_is_told(tmp_path: Path) -> None:
    config = configured(tmp_path, 'addresses = ["0.0.0.0:8420"]\nbehind_proxy = ["127.0.0.1"]')
    line = http(config)
    assert line.verdict is Verdict.WARNING
    assert line.fix == "make one: nakari token create NAME"
    tokens_of(config.state_folder).create("phone")
    line = http(config)
    assert (line.verdict, "other machines reach 0.0.0.0:8420; 1 token" in line.what) == (Verdict.OK, True)


@pytest.mark.parametrize(("days", "verdict"), [(-1, Verdict.FAULT), (10, Verdict.WARNING), (60, None)])
def test_a_certificate_is_told_of_before_it_ends(tmp_path: Path, days: int, verdict: Verdict | None) -> None:
    write_certificate(tmp_path, days=days)
    found = [*ending(str(tmp_path / "box.pem"), datetime.now(UTC))]
    assert [each for each, *_ in found] == ([] if verdict is None else [verdict])
    assert all("takes up the new one by itself" in fix for *_, fix in found)


def test_a_certificate_that_is_none_is_a_fault(tmp_path: Path) -> None:
    ((verdict, what, _),) = ending(str(tmp_path / "box.pem"), datetime.now(UTC))
    assert verdict is Verdict.FAULT
    assert "cannot be read" in what
    (tmp_path / "box.pem").write_text("no certificate")
    assert [each for each, *_ in ending(str(tmp_path / "box.pem"), datetime.now(UTC))] == [Verdict.FAULT]


def test_an_address_that_the_service_cannot_have_is_a_fault() -> None:
    running: list[Mapping[str, Json]] = [{"address": "127.0.0.1:8420", "https": False, "problem": "taken"}]
    assert [(verdict, what) for verdict, what, _ in unanswered(running)] == [(Verdict.FAULT, "taken")]
