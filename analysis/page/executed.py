"""Executed notebooks as pages: what ran and what it showed, without scripts, addresses or times of the run.

nbconvert's pages carry addresses of other hosts, random ids and half a megabyte of style; these carry none, show the
figures that lie beside them, and look like the page.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path

TITLE = "Conference review statistics"
POLICY = "default-src 'none'; img-src 'self' data:; style-src 'self'; base-uri 'none'; form-action 'none'"
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
PICTURE = re.compile(r'src="data:image/png;base64,([^"]+)"')
UNWANTED = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL | re.IGNORECASE)


def html(notebook: Path, title: str, up: str, beside: Path) -> str:
    """The page of one executed notebook. `up` leads to the page's folder; pictures `beside` it are shown from there."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    pictures = {b64encode(path.read_bytes()).decode(): path.name for path in sorted(beside.glob("*.png"))}
    body = "\n".join(filter(None, (_cell(cell, pictures) for cell in cells)))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · {TITLE}</title>
<link rel="icon" href="{up}page/icon.svg">
<link rel="stylesheet" href="{up}page/page.css">
</head>
<body class="notebook">
<header><p class="quiet"><a href="{up}index.html">{TITLE}</a> · {escape(title)}</p></header>
<main>
{body}
</main>
</body>
</html>
"""


def _cell(cell: dict, pictures: dict[str, str]) -> str:
    source = "".join(cell["source"])
    if "injected-parameters" in cell.get("metadata", {}).get("tags", ()):  # where the database lies is of no interest
        source = re.sub(r"^database = .*\n?", "", source, flags=re.MULTILINE)
    if cell["cell_type"] == "markdown":
        return _markdown(source)
    if cell["cell_type"] != "code" or not source.strip():
        return ""
    shown = "\n".join(filter(None, (_output(one, pictures) for one in _joined(cell.get("outputs", [])))))
    return f'<pre class="code" tabindex="0"><code>{_highlighted(source)}</code></pre>\n{shown}'


def _joined(outputs: list[dict]) -> list[dict]:
    """Lines printed one after the other as one text: how a kernel parts them depends on how long they took."""
    joined: list[dict] = []
    for one in outputs:
        before = joined[-1] if joined else {}
        if one["output_type"] == before.get("output_type") == "stream" and one.get("name") == before.get("name"):
            joined[-1] = {**before, "text": "".join(before["text"]) + "".join(one["text"])}
        else:
            joined.append(one)
    return joined


def _markdown(source: str) -> str:
    import mistune

    return mistune.create_markdown(escape=True, plugins=["table"])(source).strip()


@cache  # a notebook's code is the same in each of its runs
def _highlighted(source: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip()


def _output(output: dict, pictures: dict[str, str]) -> str:
    if output["output_type"] == "stream":
        return f'<pre class="said">{escape(ANSI.sub("", "".join(output["text"])).rstrip())}</pre>'
    if output["output_type"] == "error":
        return f'<pre class="said">{escape(output["ename"])}: {escape(ANSI.sub("", output["evalue"]))}</pre>'
    data = output.get("data", {})
    if "text/html" in data:
        return _beside(UNWANTED.sub("", "".join(data["text/html"])), pictures)
    if "image/png" in data:
        return _beside(f'<img alt="" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">', pictures)
    return f'<pre class="said">{escape("".join(data.get("text/plain", "")))}</pre>'


def _beside(shown: str, pictures: dict[str, str]) -> str:
    """The picture file where the notebook holds a copy of it; a table scrolls by itself on a narrow screen."""

    def source(match: re.Match) -> str:
        encoded = match[1].replace("\n", "")
        return f'src="{pictures[encoded]}" loading="lazy"' if encoded in pictures else match[0]

    shown = PICTURE.sub(source, shown)
    if "<table" in shown:
        shown = re.sub(r"<(table|div)[^>]*>", lambda match: f"<{match[1]}>", shown)
        return f'<div class="scroll" role="region" tabindex="0" aria-label="Table">\n{shown}\n</div>'
    return shown
