"""Garbage is looked for seldom while the program loads, and as usual once it has."""

import gc
import json
import subprocess
import sys

import pytest

from appliance.footprint import AS_IT_COMES, LOADING, seldom_collected
from tests.architecture.source import ROOT


def test_garbage_is_looked_for_seldom_for_as_long_as_a_command_takes() -> None:
    with seldom_collected():
        assert gc.get_threshold() == (LOADING, *AS_IT_COMES[1:])
    assert gc.get_threshold() == AS_IT_COMES


def test_a_command_that_fails_leaves_it_as_it_was() -> None:
    with pytest.raises(ValueError, match="wrong"), seldom_collected():
        raise ValueError("wrong")
    assert gc.get_threshold() == AS_IT_COMES


PROGRAM = """
import gc, json
from appliance.footprint import seldom_collected, give_back
class Node: ...
def ring():
    one, other = Node(), Node()
    one.other, other.other = other, one
def rings():
    return sum(isinstance(each, Node) for each in gc.get_objects())
with seldom_collected():
    lasting = Node()
    ring()
    before = rings()
    give_back()
    print(json.dumps([before, rings(), gc.get_freeze_count() > 0, gc.get_threshold(), lasting is not None]))
"""


def test_what_is_loaded_stays_and_what_is_garbage_by_then_goes() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    # What is permanent is no longer among the objects that the search goes through.
    assert json.loads(done.stdout) == [3, 0, True, [*AS_IT_COMES], True]
