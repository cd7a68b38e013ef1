"""The retriever: which articles published before a post speak of what it speaks of."""
