"""A recognizer that loads beside the rest of the program, from the moment in which it is known which one it is."""

import threading
from concurrent.futures import Future
from contextvars import copy_context

from audio.interfaces import Recognizer
from audio.recognizer.wrapped import WrappedRecognizer


class LoadedAhead(WrappedRecognizer):
    """A `Recognizer` around another one whose loading begins at once, in a thread that ends with it; the process waits.

    Most of that is native code, which leaves a core of its own to what else is opened meanwhile.
    """

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._loaded: Future[None] = Future()
        context = copy_context()
        threading.Thread(target=context.run, args=(self._load,), name="recognizer: loads").start()

    def warm(self) -> None:
        """Wait until the other one is loaded. Blocking. Raises what loading it raised."""
        self._loaded.result()

    def _inner(self) -> Recognizer:
        return self._recognizer

    def _load(self) -> None:
        try:
            self._recognizer.warm()
        except BaseException as error:  # noqa: BLE001  raised again by whoever waits
            self._loaded.set_exception(error)
        else:
            self._loaded.set_result(None)
