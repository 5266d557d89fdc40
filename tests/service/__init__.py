"""The box from outside: fresh machines, scripts, what it connects to, a real systemd."""
