"""What is said back, in English and Chinese: sentences, times and lengths of time."""
