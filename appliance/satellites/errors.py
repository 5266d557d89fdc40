"""What can go wrong with a satellite."""


class SatelliteFailure(Exception):
    """Something with a satellite; the text is a sentence for people."""


class SatelliteGone(SatelliteFailure):
    """It is not there, or went away in the middle: try when it is back."""


class SatelliteRefused(SatelliteFailure):
    """It is there and cannot be used: another device, another key, no sound over its connection."""


class SatelliteUnknown(SatelliteFailure):
    """None of that name is paired."""


class SatellitesDamaged(SatelliteFailure):
    """The list of paired devices cannot be read or written."""
