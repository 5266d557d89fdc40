"""Making and measuring of the network that reads wishes: lines of many writers, the training, what it reads right."""
