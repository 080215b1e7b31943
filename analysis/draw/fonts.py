"""The font of the figures: DejaVu Sans, which comes with matplotlib, without what no figure of ours needs.

A PDF embeds the glyphs that it uses, and finding them in the whole font, with its rules for forty scripts, took half of
the time of publishing a figure. So a light copy is made once and kept in matplotlib's cache: the letters, figures and signs of
Latin text, kerned as before. Everything else still comes from the whole font, which stands behind it.
"""

from __future__ import annotations

import functools
import os
from hashlib import sha256
from pathlib import Path

import matplotlib
from matplotlib.font_manager import FontProperties, fontManager

WHOLE = "DejaVu Sans"
LIGHT = "Suite Sans"  # a name of its own, so that matplotlib does not take one for the other
# Latin with its accents; dashes, quotes, bullets and dots; arrows, minus and comparisons; squares, circles and diamonds. Few, since
# each PDF reads all of them to find its own.
LETTERS = (*range(0x20, 0x7F), *range(0xA0, 0x180))
SIGNS = (*range(0x2010, 0x2027), *range(0x2190, 0x2194), 0x2212, 0x2248, 0x2260, 0x2264, 0x2265, *range(0x25A0, 0x25D0))
# Rules for scripts; pairs of European letters are in the older `kern` table too.
DROPPED = ("GSUB", "GPOS", "GDEF", "MATH", "FFTM")


@functools.cache
def families() -> list[str]:
    """The families to draw with, the light one first; made and made known to matplotlib on the first call."""
    known = {Path(entry.fname) for entry in fontManager.ttflist if entry.name == LIGHT}
    for weight in ("normal", "bold"):
        path = _light(Path(fontManager.findfont(FontProperties(family=WHOLE, weight=weight))))
        if path not in known:
            fontManager.addfont(path)
    return [LIGHT, WHOLE]


def _light(whole: Path) -> Path:
    """The file of the light copy; another version of the whole font, or of this file, makes another one."""
    key = sha256(whole.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    path = Path(matplotlib.get_cachedir(), f"suite-{whole.stem}-{key}.ttf")
    if not path.is_file():
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        _make(whole, unfinished)
        os.replace(unfinished, path)
    return path


def _make(whole: Path, path: Path) -> None:
    from fontTools import subset, ttLib  # a third of a second that only the first run has to pay

    options = subset.Options(glyph_names=True, legacy_kern=True, name_IDs=["*"])
    options.drop_tables += DROPPED
    with ttLib.TTFont(whole, recalcTimestamp=False) as font:
        reduced = subset.Subsetter(options)
        reduced.populate(unicodes=[*LETTERS, *SIGNS])
        reduced.subset(font)
        for record in font["name"].names:
            text = record.toUnicode()
            record.string = text.replace(WHOLE, LIGHT).replace(WHOLE.replace(" ", ""), LIGHT.replace(" ", ""))
        font.save(path)
