"""Devices of other rooms: a small one that speaks ESPHome's native API, and linux-voice-assistant itself."""
