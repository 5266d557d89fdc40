"""Sound devices: PortAudio, the lists of microphones and loudspeakers, and what PulseAudio says of them."""
