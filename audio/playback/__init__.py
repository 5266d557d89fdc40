"""Where sound goes: a loudspeaker, or a recording in its place."""
