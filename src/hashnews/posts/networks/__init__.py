"""Open networks: posts that flow in from Mastodon and Bluesky, and go again where they went."""
