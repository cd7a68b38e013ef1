"""Measuring: metrics, significance, and the paper's table made again with one command."""
