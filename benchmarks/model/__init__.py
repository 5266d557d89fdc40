"""What adapters and servers of models cost."""
