"""The generator: hashtags written word by word from a post and the news context beside it."""
