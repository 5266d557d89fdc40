"""One interface to every model, and its adapters: litellm, a thin OpenAI-compatible client, and the offline model."""
