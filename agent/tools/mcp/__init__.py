"""Tools of other programs: servers of the Model Context Protocol, each in one long-lived owner task."""
