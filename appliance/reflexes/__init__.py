"""Reflexes acted out: beside the mind, kept over restarts, told to it afterwards; mute and forgetting among them."""
