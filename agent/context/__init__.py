"""What it is given: a prefix that never changes within an epoch, and the present as one XML block at its end."""
