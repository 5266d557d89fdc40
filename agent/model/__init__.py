"""One interface to every model, and its adapters: litellm, OpenAI-compatible servers, Ollama, and the offline model."""
