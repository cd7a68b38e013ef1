"""Teaching the suggester on past posts."""
