"""The sentence files, which every start reads."""

import time
from importlib.resources import files

import yaml

from agent.intents.language import wording


def test_a_sentence_file_is_read_as_it_stands_and_quickly() -> None:
    """Python's own reader takes 0.2 s for both, of each start and each question to a box that does not run."""
    text = files("agent.intents.language").joinpath("sentences/zh.yaml").read_text(encoding="utf-8")
    began = time.process_time()
    slowly = yaml.safe_load(text)
    between = time.process_time()
    assert wording.sentence_file.__wrapped__("zh") == slowly
    assert time.process_time() - between < (between - began) / 2
