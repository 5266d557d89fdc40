"""A recognizer around another one, which does all that it does not do otherwise."""

import threading
from concurrent.futures import Future
from contextvars import copy_context

from audio.egress import SendsTo
from audio.interfaces import Recognizer
from audio.speech import Transcript, Utterance


class WrappedRecognizer:
    """A `Recognizer` that hands everything to another one; a subclass does some of it itself."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer

    @property
    def name(self) -> str:
        """The other one's."""
        return self._recognizer.name

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """The other one's."""
        return self._recognizer.sends_to

    def warm(self) -> None:
        """Load the other one. Blocking."""
        self._recognizer.warm()

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words of the other one. Blocking. Raises `RecognitionFailed`."""
        return self._recognizer.transcribe(utterance)


class LoadedAhead(WrappedRecognizer):
    """A `Recognizer` around another one whose loading begins at once, in a thread that ends with it; the process waits.

    Most of that is native code, which leaves a core of its own to what else is opened meanwhile.
    """

    def __init__(self, recognizer: Recognizer) -> None:
        super().__init__(recognizer)
        self._loaded: Future[None] = Future()
        context = copy_context()
        threading.Thread(target=context.run, args=(self._load,), name="recognizer: loads").start()

    def warm(self) -> None:
        """Wait until the other one is loaded. Blocking. Raises what loading it raised."""
        self._loaded.result()

    def _load(self) -> None:
        try:
            self._recognizer.warm()
        except BaseException as error:  # noqa: BLE001  raised again by whoever waits
            self._loaded.set_exception(error)
        else:
            self._loaded.set_result(None)
