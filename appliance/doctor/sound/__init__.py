"""What the doctor looks at of the sound card, each look in a process of its own."""
