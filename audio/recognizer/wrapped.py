"""A recognizer around another one, which does all that it does not do otherwise."""

import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextvars import copy_context

from audio.egress import SendsTo
from audio.interfaces import Recognizer
from audio.speech import Transcript, Utterance


class WrappedRecognizer(ABC):
    """A `Recognizer` that hands everything to another one; a subclass says to which, and does some of it itself."""

    @abstractmethod
    def _inner(self) -> Recognizer:
        """Return the other one, as it is now."""

    @property
    def name(self) -> str:
        """The other one's."""
        return self._inner().name

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """The other one's."""
        return self._inner().sends_to

    def warm(self) -> None:
        """Load the other one. Blocking."""
        self._inner().warm()

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words of the other one. Blocking. Raises `RecognitionFailed`."""
        return self._inner().transcribe(utterance)


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
