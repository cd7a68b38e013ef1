"""A hook of mkdocs: what the pages link to outside docs/ becomes part of the site.

The pages are written for whoever reads them in a checkout: `../results/panel/README.md`. Such a
file is taken along, and what it links to; docs/ itself is the root of the site. So the site is
whole wherever it stands, and mkdocs checks each of its links.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?\[[^]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)([^)]*)\)")
FRONT = {"README.md": "docs/index.md"}  # a site has one front page


def _target(source: str, link: str) -> str:
    """What a link of a file of the repository leads to there."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if (ROOT / path / "README.md").is_file():
        path = posixpath.normpath(f"{path}/README.md")
    return FRONT.get(path, path)


def _source(uri: str) -> str:
    """Which file of the repository a file of the site is."""
    return f"docs/{uri}" if (ROOT / "docs" / uri).exists() else uri


def on_files(files: Any, config: Any) -> Any:
    """Take along what the pages link to, and what that links to."""
    waiting = [file.src_uri for file in files if file.src_uri.endswith(".md")]
    for uri in waiting:
        source = _source(uri)
        for _, link, _ in LINK.findall((ROOT / source).read_text("utf-8")):
            target = _target(source, link)
            path, known = ROOT / target, files.get_file_from_path(target.removeprefix("docs/"))
            if known or not path.is_file() or ROOT not in path.resolve().parents:
                continue
            outside = InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, target, abs_src_path=str(path), inclusion=outside))
            if target.endswith(".md"):
                waiting.append(target)
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Links of a page as the site needs them."""
    source = _source(page.file.src_uri)
    folder = posixpath.dirname(page.file.src_uri)

    def lead(found: re.Match[str]) -> str:
        target = _target(source, found[2])
        if not (ROOT / target).is_file():
            return found[0]  # mkdocs says so
        link = posixpath.relpath(target.removeprefix("docs/"), folder or ".")
        text = found[1]
        if text.endswith(".md"):  # a site has titles, not files
            text = f"[{(ROOT / target).read_text('utf-8').partition(chr(10))[0].lstrip('# ')}"
        return f"{text}]({link}{found[3]})"

    return LINK.sub(lead, markdown)
