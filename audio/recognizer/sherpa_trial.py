"""Loads a streaming model in a process of its own: `python -m audio.recognizer.sherpa_trial FOLDER THREADS`.

Ends with 0 when it could be loaded and run, and with a sentence on standard error otherwise.
"""

import sys
from pathlib import Path

from audio.errors import AudioError
from audio.recognizer.sherpa_onnx import try_folder

if __name__ == "__main__":
    try:
        try_folder(Path(sys.argv[1]), int(sys.argv[2]))
    except AudioError as error:
        sys.exit(str(error))
