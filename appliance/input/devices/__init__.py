"""The microphone and the loudspeaker: chosen, supervised, told of, and their echo."""
