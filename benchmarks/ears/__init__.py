"""What the ears make of any folder of clips: `scripts/bench ears FOLDER`; no figure of docs/figures.md needs one."""
