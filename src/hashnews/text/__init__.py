"""Reading posts and articles: pure functions over text."""
