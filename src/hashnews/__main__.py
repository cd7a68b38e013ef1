"""`python -m hashnews`."""

from hashnews.cli import main

main()
