"""The news store, and the ways news gets into it."""
