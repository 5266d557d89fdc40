"""Commands about ears and voices: what is heard, devices, satellites, who is known by voice."""
