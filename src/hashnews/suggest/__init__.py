"""Where hashtags come from besides the generator, and the ranker that puts them in order."""
