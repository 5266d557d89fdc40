"""What a real Home Assistant does that nakari, without a model, is told in words."""
