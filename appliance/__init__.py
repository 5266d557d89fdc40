"""The box: configuration, wiring, service, doors, doctor, logs."""
