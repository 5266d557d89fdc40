"""Many households on one machine, a process each: what one without a microphone does without."""

from pathlib import Path

import pytest

from tests.service.process import Household

NO_DEVICE: dict[str, object] = {"device": "no such device"}
FOR_HEARING = ("onnxruntime", "livekit_ffi", "_pocketsphinx")
"""Libraries of the voice detector, the echo canceller and the spotter of reflex words."""


@pytest.mark.shows("H9")
def test_one_that_has_nothing_to_hear_with_loads_nothing_that_hears(tmp_path: Path) -> None:
    home = Household(tmp_path, {"ears": NO_DEVICE, "voice": NO_DEVICE})
    with home.running("run") as running:
        running.until("service_started")
        assert "It is" in home.run("ask", "what time is it").stdout
        mapped = Path(f"/proc/{running.process.pid}/maps").read_text(encoding="utf-8")
        assert [library for library in FOR_HEARING if library in mapped] == []
        assert running.stop() == 0
