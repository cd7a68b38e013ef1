"""Hashtags for microblog posts, suggested from the news published before them."""

__version__ = "0.1.0"
