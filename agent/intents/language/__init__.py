"""How people word things, in English and Chinese: sentences, lengths of time, questions, what a recognizer knows."""
