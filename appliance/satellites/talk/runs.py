"""The runs of a device, told to it step by step: from its wake to the sound of the answer."""

import asyncio
from collections.abc import Callable
from typing import Final

from appliance.satellites.interfaces import Device, VoiceEvent

NOT_UNDERSTOOD: Final = "stt-no-text-recognized"
"""Codes of errors, as Home Assistant's pipelines have them: firmware knows some."""

FAILED_TO_RECOGNIZE: Final = "stt-stream-failed"
NOT_TAKEN: Final = "intent-failed"

_SENTENCES: Final = {
    NOT_UNDERSTOOD: ("Nothing was understood.", "没有听懂。"),
    FAILED_TO_RECOGNIZE: ("The recognizer failed.", "语音识别失败了。"),
}


_QUESTION_MARKS: Final = ("?", "？")


def is_question(words: str) -> bool:
    """Whether words want an answer."""
    return words.rstrip().endswith(_QUESTION_MARKS)


class Run:
    """One run. Each step is told once, in the order of the protocol; after its end nothing is."""

    def __init__(self, device: Device, conversation: str, changed: asyncio.Event) -> None:
        """Belong to a conversation; `changed` is set whenever something here has changed."""
        self._device = device
        self._conversation = conversation
        self._changed = changed
        self.is_hearing = True
        """Until its words are known, or that there are none."""
        self.is_over = False
        self.event_id = ""
        """Of what was said, once it is known."""
        self._early: list[tuple[str, bool]] = []
        """Answers that came before it was told that it was understood."""
        self._is_answered = False
        self._is_sounding = False
        self._has_microphone = True

    def begin(self) -> None:
        """Have it listen."""
        self._tell(VoiceEvent.RUN_START)
        self._tell(VoiceEvent.STT_START)

    def heard(self) -> None:
        """Close its microphone: the turn is over."""
        if self._has_microphone:
            self._has_microphone = False
            self._tell(VoiceEvent.STT_VAD_END)

    def understood(self, words: str) -> None:
        """Show that it was heard, and that it thinks."""
        if self.is_hearing:
            self.heard()
            self._tell(VoiceEvent.STT_END, text=words)
            self._tell(VoiceEvent.INTENT_START)
            self._heard_all()
            early, self._early = self._early, []
            for answer, is_last in early:
                self.answered(answer, is_last=is_last)

    def sounds(self, url: str, words: str) -> bool:
        """Have it play a url ("" is what is sent raw); False where it plays one already, or is not so far."""
        if self.is_over or self.is_hearing or self._is_sounding:
            return False
        self._is_sounding = True
        self._tell(VoiceEvent.TTS_START, text=words)
        self._tell(VoiceEvent.TTS_END, url=url)
        if self._is_answered:
            self.end()
        return True

    def answered(self, words: str, *, is_last: bool = False) -> None:
        """Take that a reply is whole; a question opens its microphone again. `is_last`: no more is said to it."""
        if self.is_hearing:
            self._early.append((words, is_last))
            return
        if not self._is_answered:
            self._is_answered = True
            goes_on = "1" if is_question(words) else "0"
            self._tell(VoiceEvent.INTENT_END, conversation_id=self._conversation, continue_conversation=goes_on)
        if is_last or self._is_sounding:
            self.end()

    def fail(self, code: str, sentence: str) -> None:
        """Show that it came to nothing, and why."""
        self.heard()
        self._tell(VoiceEvent.ERROR, code=code, message=sentence)
        self.end()

    def end(self) -> None:
        """End it; what it plays it plays to its end."""
        self.heard()
        self._tell(VoiceEvent.RUN_END)
        self.abandon()

    def abandon(self) -> None:
        """Take that the device has ended it by itself."""
        self.is_over = True
        self._heard_all()

    def _heard_all(self) -> None:
        self.is_hearing = self._has_microphone = False
        self._changed.set()

    def _tell(self, event: VoiceEvent, **data: str) -> None:
        if not self.is_over:
            self._device.tell(event, data)


class Runs:
    """The runs of one device, one at a time: a new one takes the place of what was open."""

    def __init__(self, device: Device, conversation: str, language: str, stopped_there: Callable[[], None]) -> None:
        """`stopped_there` is told that somebody stopped at the device what was announced."""
        self.stopped_there = stopped_there
        self._device = device
        self._conversation = conversation
        self._language = language
        self._changed = asyncio.Event()
        self.current: Run | None = None

    def new(self) -> Run:
        """Open one, in place of what was open."""
        if self.current is not None:
            self.current.abandon()
        self.current = Run(self._device, self._conversation, self._changed)
        return self.current

    def sentence(self, code: str) -> str:
        """Return what an error is called for people."""
        english, chinese = _SENTENCES[code]
        return chinese if self._language == "zh" else english

    async def may_sound(self) -> None:
        """Wait while somebody is being heard there."""
        while self.current is not None and self.current.is_hearing:
            self._changed.clear()
            await self._changed.wait()

    def sounds(self, url: str, words: str) -> bool:
        """Have the open run play a url; False where none takes one."""
        return self.current is not None and self.current.sounds(url, words)

    def answered(self, event_id: str, words: str, *, is_last: bool = False) -> None:
        """Take that a reply to an event is whole, or that nothing more is said to it."""
        if self.current is not None and self.current.event_id == event_id:
            self.current.answered(words, is_last=is_last)
