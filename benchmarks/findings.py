"""What broke under attack in the first release: each finding as one question to a checkout.

    PYTHONPATH=CHECKOUT/src python benchmarks/findings.py [--only NAME] [-v]

Asks through the command line, HTTP and the few functions that all versions have, so that it runs on
the first release as well: there the answers are `broken`. The tests that hold each of them now are
in results/attack/findings.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import findings_files
import findings_models
from findings_parts import added
from findings_service import APART, SERVED
from servers import KEY, Server


def ask(name: str, question: Callable[[], bool], about: str | None, telling: bool) -> None:
    """Put one question and tell the answer."""
    try:
        answer = "holds" if question() else "broken"
    except BaseException as error:
        answer = f"broken: {type(error).__name__}"
        if telling:
            traceback.print_exc()
    print(f"| {name} | {about} | {answer} |", flush=True)


def main() -> None:
    """Put all questions, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only")
    parser.add_argument("-v", action="store_true", help="show tracebacks")
    options = parser.parse_args()

    def wanted(questions: tuple[Callable[..., bool], ...]) -> list[Callable[..., bool]]:
        return [one for one in questions if options.only in (None, one.__name__)]

    for one in wanted((*findings_files.QUESTIONS, *findings_models.QUESTIONS, *APART)):
        with tempfile.TemporaryDirectory() as folder:
            ask(one.__name__, lambda q=one, f=folder: q(Path(f)), one.__doc__, options.v)
    with ExitStack() as stack:
        if served := wanted(SERVED):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            server = stack.enter_context(Server("--news", added(Path(folder)), key=KEY))
        for one in served:
            ask(one.__name__, lambda q=one: q(server.url), one.__doc__, options.v)
    os._exit(0)


if __name__ == "__main__":
    main()
