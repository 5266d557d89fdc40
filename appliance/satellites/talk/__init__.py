"""What is said and heard with a satellite: its ears, its mouth, its runs, and the sound it is sent."""
