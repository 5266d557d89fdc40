"""The memory: one graph over two stores, a Neo4j server or the store that comes with the box."""
