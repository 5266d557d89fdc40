"""Where sound goes: a loudspeaker, a recording, nowhere."""
