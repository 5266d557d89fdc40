"""One file a figure of README, each printing a ratio measured in one run."""
