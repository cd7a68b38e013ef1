"""`hashnews` and `python -m hashnews`: Ctrl-C is one line, while all is still imported, too."""

import sys


def run() -> None:
    """Run the command that was typed."""
    try:
        from hashnews.cli import main
    except KeyboardInterrupt:
        sys.exit("Aborted!")
    main()


if __name__ == "__main__":
    run()
