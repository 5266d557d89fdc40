"""Making of the small keyword model: voices, rooms and noise to train on, the training, and the file it leaves."""
