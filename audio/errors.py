"""The errors of this package, as a tree; each text is one sentence with the fix.

AudioError                  each sentence names the cause and the fix
├── BadRecording            a file that should be sound is not, or holds none
├── OutputUnwritable        a sound file cannot be written where it was asked for
├── DeviceUnavailable       no such microphone or loudspeaker, or it went away
├── ModelNotFound           a recognizer's model folder is missing or incomplete
│   └── ModelDamaged        all of its files are there, and cannot be loaded
├── ServerFailed            a speech server answered badly: whoever asked it tells what is missing for that
│   └── ServerUnreachable   it took no connection
├── SentenceRefused         whoever writes a sentence down before it is said could not: it is not said here
├── RecognitionFailed       the recognizer raised; the utterance is kept by the caller
│   └── RecognizerAbsent    it is not here yet: ask another one
└── SynthesisFailed         a voice gave no sound, not all of it, or not in time: ask the next voice
    └── VoiceUnavailable    this voice can not work here at all (program missing, no network)
"""


class AudioError(Exception):
    """The root: its text is one sentence for a person, with the fix."""


class BadRecording(AudioError):
    """A sound file could not be read as sound. Fix: give another file."""


class OutputUnwritable(AudioError):
    """A sound file cannot be written. Fix: another path, permissions, space."""


class DeviceUnavailable(AudioError):
    """A sound device is missing or vanished. Fix: plug it in, or choose another by name."""


class ModelNotFound(AudioError):
    """A model folder is missing or lacks files. Fix: fetch the model or correct the path."""


class ModelDamaged(ModelNotFound):
    """A model's files are not what they were. Fix: remove the folder and fetch the model again."""


class ServerFailed(AudioError):
    """A server of speech failed, said that it did, or spoke another protocol. Fix: the server's, or its address."""


class ServerUnreachable(ServerFailed):
    """A server of speech took no connection. Fix: start it, or correct its address."""


class RecognitionFailed(AudioError):
    """The recognizer raised on an utterance, or gave no answer."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(f"{what}; {fix}" if fix else what)
        self.what = what
        self.fix = fix
        """What can be done; "" where the text says it, or nobody knows."""


class RecognizerAbsent(RecognitionFailed):
    """A recognizer's model has not come yet. Fix: wait, or fetch it."""


class SynthesisFailed(AudioError):
    """A voice produced no sound, not all of it, or too late. Fix: the next voice of the chain."""


class SynthesisLate(SynthesisFailed):
    """A voice gave no sound in the time it had; it may with more. Fix: another voice, or patience."""


class VoiceUnavailable(SynthesisFailed):
    """A voice cannot work on this machine or in this moment."""


class SentenceRefused(AudioError):
    """A sentence was not written down before its first sound. Fix: none here; another machine says it."""
