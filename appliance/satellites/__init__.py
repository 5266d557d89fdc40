"""Devices in other rooms that hear and speak by ESPHome's native API: found, paired, connected for years."""
