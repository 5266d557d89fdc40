"""What the suite takes a sample of is tried whole by `scripts/bench whole`."""

from benchmarks.whole import command, sampling
from tests.architecture.source import ROOT


def test_every_sample_is_of_a_file_that_is_tried_whole() -> None:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    sampled = [file for file in files if "import sample\n" in file.read_text(encoding="utf-8")]
    assert len(sampled) > 3
    assert [file for file in sampled if file not in sampling()] == []
    assert all("whole=every_step" in file.read_text(encoding="utf-8") for file in sampled)


def test_options_are_pytest_s() -> None:
    assert command(["-x"])[1:4] == ["-m", "pytest", "--every-step"]
    assert command(["-x"])[-1] == "-x"
