"""Who spoke: voices that people let nakari keep, names for what is heard, and corrections of names."""
