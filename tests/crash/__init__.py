"""kill -9 at every step: a real process on a real disk dies where a script says, is started again, and is judged."""
