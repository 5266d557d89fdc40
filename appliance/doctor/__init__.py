"""`nakari doctor`: what is wrong on this machine, a line each, with the fix."""
