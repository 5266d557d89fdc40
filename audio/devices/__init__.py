"""Sound devices: PortAudio, lists of microphones and loudspeakers, hotplug, and queries to PulseAudio."""
