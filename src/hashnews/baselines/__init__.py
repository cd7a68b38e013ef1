"""Baselines: what any claim must beat. Each learns from posts alone, never from news.

baseline.fit(training posts); baseline.suggest(posts, n)
"""
