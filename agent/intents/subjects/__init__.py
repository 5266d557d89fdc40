"""What can be asked and told without a model, a subject a file."""
