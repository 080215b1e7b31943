"""Publish: the one way out for what a notebook draws, tabulates and quotes.

    book = publish.book("02-scores", sample)
    frame = ratings(sample)
    book.figure("ratings", draw_ratings(frame, book.axes()), frame, title="...", caption="...", alt="...")

A book owns one folder, ``figures/<place>/<notebook>/``, and a manifest that names everything in it. The same input
gives the same bytes, so a file that changed is a number that changed.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import ROOT, __version__, tables
from analysis.draw.canvas import QUIET, RATIO, WIDTHS, balanced, cover, foreign, new_figure, points, style, wrapped
from analysis.errors import Trouble, choices, count, percent
from analysis.places import FIGURES, place
from analysis.sample import POPULATIONS, Sample
from analysis.statistics import queries

MANIFEST = "manifest.json"
# Kinds of files that a book writes, and so may take away when it begins anew.
SUFFIXES = (".pdf", ".svg", ".png", ".csv", ".parquet", ".md", ".tex", ".html", ".json")
SOURCES = {"bundled": "bundled counts", "api": "OpenReview API", "notes": "saved notes"}
SUITE = f"conference-review-statistics {__version__}"
NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
# Without the date and the version of matplotlib, which would change the bytes.
METADATA = {
    "pdf": {"Creator": SUITE, "Producer": None, "CreationDate": None},
    "svg": {"Creator": SUITE, "Date": None},
    "png": {"Software": None},
}
FAST = {"compress_level": 1}  # of PNG: a twentieth larger than by default, in half the time
BETWEEN = " · "  # the parts of a stamp
CSS_PIXELS = 96  # to the inch
SHARE = 1200, 675  # pixels of a picture to share


@dataclass(frozen=True)
class Picture:
    """A published figure as a notebook shows it: the picture, its caption, and its alt text for who cannot see it."""

    png: bytes
    title: str
    caption: str
    alt: str
    width: int
    figure: Figure = field(repr=False)

    def __repr__(self) -> str:
        return "\n".join(filter(None, (self.title, self.caption)))

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict[str, str], dict[str, dict]]:
        picture = base64.b64encode(self.png).decode()
        image = f'<img alt="{html.escape(self.alt)}" width="{self.width}" src="data:image/png;base64,{picture}">'
        page = f"<figure>{image}<figcaption>{html.escape(self.caption)}</figcaption></figure>"
        shown = {"text/plain": repr(self), "text/html": page, "image/png": picture}
        return shown, {"image/png": {"alt": self.alt, "width": self.width}}


@dataclass(frozen=True)
class Shown:
    """A published table as a notebook shows it."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def book(
    name: str,
    *samples: Sample,
    venue: str = "",
    year: int | None = None,
    figures: str | Path = "figures",
    width: str = "iclr",
) -> Book:
    """Open the book of a notebook: empty its folder, and write what it is about into its manifest.

    Results go beside those of the same snapshot (the one asked for, where another stands in for it), those of several
    samples beside others of their year or venue. `venue` and `year` put them there whatever the samples are. `figures`
    is meant from the project's folder, unless the environment names another (`FIGURES`); `width` is a print width.
    """
    if width not in WIDTHS:
        raise Trouble(f"There is no figure width `{width}`; there are {choices(WIDTHS)}.")
    about = _about(samples, venue, year)
    opened = Book(_folder(name, about, samples, venue, figures), name, about, width)
    opened.begin()
    return opened


def discard(name: str, *samples: Sample, figures: str | Path = "figures") -> None:
    """Take away what an earlier run published in this place, where there is nothing to publish any more."""
    folder = _folder(name, _about(samples, "", None), samples, "", figures)
    if folder.is_dir():
        _empty(folder)
        if not any(folder.iterdir()):
            folder.rmdir()


def _folder(name: str, about: dict, samples: Sequence[Sample], venue: str, figures: str | Path) -> Path:
    snapshot = None if venue else _only(one.asked.name for one in samples)
    where = place(about["venue"], about["year"], snapshot if about["year"] is not None else None)
    return ROOT / os.environ.get(FIGURES, figures) / where / _checked(name)


def _empty(folder: Path) -> None:
    for file in folder.iterdir():
        if file.suffix in SUFFIXES and file.is_file():
            file.unlink()


@dataclass
class Book:
    """The figures, tables and numbers of one notebook on one snapshot, year or venue."""

    folder: Path
    name: str
    about: dict[str, object]
    width: str = "iclr"
    figures: list[dict] = field(default_factory=list)
    tables: list[dict] = field(default_factory=list)
    numbers: list[dict] = field(default_factory=list)
    sentences: list[dict] = field(default_factory=list)

    def begin(self) -> None:
        """Empty the folder, and say in the manifest what the book is about."""
        queries.called()  # what was computed before is about something else
        self.folder.mkdir(parents=True, exist_ok=True)
        _empty(self.folder)
        self._save()

    @property
    def stamp(self) -> str:
        """What is printed small below every figure: where its numbers come from, and no time of the run."""
        return str(self.about["stamp"])

    def stamp_of(self, shown: Sequence[Sample] = ()) -> str:
        """The stamp of a figure that is about these samples; the book's own without any."""
        return str(_about(shown, self.about["venue"], self.about["year"])["stamp"]) if shown else self.stamp

    def axes(self, ratio: float = RATIO) -> Axes:
        """Empty Axes of the book's width to draw on; `ratio` is height / width."""
        return new_figure(self.width, ratio)[1]

    def figure(
        self,
        name: str,
        drawn: Figure | Axes,
        frame: pd.DataFrame,
        title: str = "",
        caption: str = "",
        alt: str = "",
        shown: Sequence[Sample] = (),
    ) -> Picture:
        """Publish a figure as PDF, SVG and PNG with the frame behind it as CSV; gives what a notebook shows.

        `shown` are the samples that the figure is about, for its stamp, where they are not all of the book's.
        """
        self._add_name(name, self.figures + self.tables)
        figure = drawn if isinstance(drawn, Figure) else drawn.figure
        stamp = self.stamp_of(shown)
        saved = _saved(figure, title, stamp)
        files = {kind: self._write(f"{name}.{kind}", saved[kind]) for kind in saved}
        if not self.figures:  # the first is a notebook's main one: it also goes out as a picture to share
            files["share"] = self._write(f"{name}-share.png", _share(figure))
        files["csv"] = self._write(f"{name}.csv", f"{tables.text(frame, 'csv')}\n")
        width, height = (round(inches * CSS_PIXELS) for inches in figure.get_size_inches())
        words = {"title": title, "caption": caption, "alt": alt or title}
        about = {"stamp": stamp, "queries": made_by(frame), "files": files, "width": width, "height": height}
        self.figures.append({"name": name, **words, **about})
        self._save()
        return Picture(saved["png"], width=width, figure=figure, **words)

    def table(self, name: str, frame: pd.DataFrame, caption: str = "", shares: Collection[str] = ()) -> Shown:
        """Publish a table as CSV, Parquet, Markdown, LaTeX and HTML; gives what a notebook shows. `shares` are the fractions.

        The stamp and what was left out or replaced stand below it as a note.
        """
        self._add_name(name, self.figures + self.tables)
        note = ". ".join(one.rstrip(".") for one in (self.stamp, *self.about["remarks"])) + "."
        kinds = {"csv": "csv", "md": "markdown", "tex": "latex", "html": "html"}
        texts = {suffix: tables.text(frame, kind, shares, caption, note) for suffix, kind in kinds.items()}
        files = {suffix: self._write(f"{name}.{suffix}", f"{text}\n") for suffix, text in texts.items()}
        files["parquet"] = self._placed(f"{name}.parquet", lambda path: tables.parquet(frame, path))
        about = {"caption": caption, "queries": made_by(frame), "shares": list(shares), "rows": len(frame)}
        self.tables.append({"name": name, **about, "files": files})
        self._save()
        return Shown(tables.text(frame, "table", shares, caption), texts["html"])

    def number(
        self,
        name: str,
        value: float,
        n: int | None = None,
        low: float | None = None,
        high: float | None = None,
        share: bool = True,
        digits: int | None = None,
    ) -> str:
        """Note a number that prose quotes, and give it as text: a whole number as a count, any other as a share.

        With ``share=False`` a fraction is a plain number (a mean). The name is stable: others cite it.
        """
        self._add_name(name, self.numbers + self.sentences)
        row = dict(zip(("value", "n", "low", "high"), map(tables.plain, (value, n, low, high)), strict=True))
        text, *ends = (_written(row[part], share, digits) for part in ("value", "low", "high"))
        limits = " to ".join(ends) if None not in (row["low"], row["high"]) else ""
        self.numbers.append({"name": name, "text": text, "limits": limits, **row})
        self._save()
        return text

    def sentence(self, name: str, text: str) -> str:
        """Note a sentence whose numbers a statistic wrote into it, and give it back for the notebook to say."""
        self._add_name(name, self.numbers + self.sentences)
        self.sentences.append({"name": name, "text": text, "queries": made_by(pd.DataFrame())})
        self._save()
        return text

    def _add_name(self, name: str, others: Sequence[dict]) -> None:
        if _checked(name) in {other["name"] for other in others}:
            raise Trouble(f"`{name}` is already in the book {self.name}; give this one a name of its own.")

    def _write(self, name: str, content: str | bytes) -> str:
        """Write a file whole or not at all; gives its name."""
        return self._placed(
            name, lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())
        )

    def _placed(self, name: str, write: Callable[[Path], object]) -> str:
        unfinished = self.folder / f".{name}.{os.getpid()}"
        write(unfinished)
        os.replace(unfinished, self.folder / name)
        return name

    def _save(self) -> None:
        lists = {kind: getattr(self, kind) for kind in ("figures", "tables", "numbers", "sentences")}
        files = sorted(file for one in (*self.figures, *self.tables) for file in one["files"].values())
        manifest = {"notebook": self.name, "width": self.width, **self.about, **lists, "files": files}
        self._write(MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def made_by(frame: pd.DataFrame) -> list[queries.Query]:
    """What made a frame and the words about it: its own queries, then the statistics called since the last publication."""
    return queries.joined([*queries.of(frame), *queries.called()])


def _checked(name: str) -> str:
    """A name that is a file's name and a part of an address on every system."""
    if not NAME.fullmatch(name):
        raise Trouble(f"`{name}` is no name for a published file; take small letters, digits and `-`: `top-papers`.")
    return name


def _written(value: object, share: bool, digits: int | None) -> str:
    if value is None:
        return "not known"
    if isinstance(value, int):
        return f"{value:,}"
    if share:
        return percent(value, 1 if digits is None else digits)
    return f"{value:,.{2 if digits is None else digits}f}"


# What a book is about -----------------------------------------------------------------------------------------------


def _about(samples: Sequence[Sample], venue: str, year: int | None) -> dict[str, object]:
    """Venue, year, snapshot, stage, population, source and counts; null where samples differ or there are none."""
    if not (samples or venue):
        raise Trouble("A book wants a sample, or venue= and year=, to know where its figures go.")
    taken = [one.snapshot for one in samples]
    about = {
        "venue": venue or _only(one.venue for one in taken),
        "year": year if venue else _only(one.year for one in taken),
        "snapshot": _only(one.name for one in taken),
        "stage": _only(one.stage for one in taken),
        "population": _only(one.population for one in samples),
        "source": _only(one.source for one in taken),
        "papers": _different_papers(samples) if samples else None,
        "reviews": sum(len(one.reviews) for one in samples) if samples else None,
        "version": __version__,
        "remarks": list(dict.fromkeys(remark for one in samples for remark in one.remarks)),
        "samples": [_sample(one) for one in samples],
    }
    return {**about, "stamp": _stamp(about, samples)}


def _sample(one: Sample) -> dict[str, object]:
    taken = one.snapshot
    named = {"venue": taken.venue, "year": taken.year, "snapshot": taken.name, "stage": taken.stage}
    return {**named, "source": taken.source, "papers": len(one.papers), "reviews": len(one.reviews)}


def _different_papers(samples: Sequence[Sample]) -> int:
    """How many papers the samples hold; two snapshots of a year that share their ids hold the same ones."""
    found: dict[tuple, list[pd.Series]] = {}
    for one in samples:
        found.setdefault((one.snapshot.venue, one.snapshot.year, one.snapshot.paper_ids), []).append(
            one.papers["paper"]
        )
    return sum(pd.concat(papers).nunique() for papers in found.values())


def _said_reviews(samples: Sequence[Sample], years: int) -> str:
    """How many reviews; those of two snapshots of a year are not added up, since most are the same ones."""
    numbers = [len(one.reviews) for one in samples]
    if len(numbers) == 2 and years == 1:
        return f"{numbers[0]:,} and {count(numbers[1], 'review')}"
    return count(sum(numbers), "review")


def _only(values) -> object:
    """The value that all share, else None."""
    found = list(dict.fromkeys(values))
    return found[0] if len(found) == 1 else None


def _stamp(about: dict[str, object], samples: Sequence[Sample]) -> str:
    years = sorted({one.snapshot.year for one in samples} or {about["year"]} - {None})
    span = f" {years[0]}" if len(years) == 1 else f" {years[0]} to {years[-1]}" if years else ""
    stages = " and ".join(dict.fromkeys(one.snapshot.stage for one in samples))
    snapshots = ", ".join(dict.fromkeys(one.snapshot.name for one in samples)) if len(years) == 1 else ""
    parts = [
        f"{about['venue']}{span}",
        f"snapshot {snapshots} ({stages})" if snapshots else f"{len(samples)} snapshots ({stages})" if samples else "",
        POPULATIONS.get(str(about["population"]), ""),
        f"{count(about['papers'], 'paper')}, {_said_reviews(samples, len(years))}" if samples else "",
        " and ".join(dict.fromkeys(SOURCES.get(one.snapshot.source, one.snapshot.source) for one in samples)),
        SUITE,
    ]
    return BETWEEN.join(filter(None, parts))


# Bytes --------------------------------------------------------------------------------------------------------------


def _saved(figure: Figure, title: str, stamp: str) -> dict[str, bytes]:
    """The figure as PDF, SVG and PNG, with its title above and its stamp below."""
    with style(figure.get_figwidth()), warnings.catch_warnings():
        # Where no installed family has a character, matplotlib draws a box with its code, which is the best there is.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        _frame(figure, title, stamp)
        written_elsewhere = foreign(figure)
        cover(written_elsewhere)
        _lay_out(figure)
        # A reader's browser may have the characters that are missing here: the SVG keeps them as text.
        with matplotlib.rc_context({"svg.fonttype": "none"} if written_elsewhere else {}):
            return {kind: _bytes(figure, kind) for kind in METADATA}


def _share(figure: Figure) -> bytes:
    """A finished figure as a picture of the size that posts show, laid out anew in that shape."""
    width, height = figure.get_size_inches()
    wide = max(width, height * SHARE[0] / SHARE[1])
    with style(width), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        figure.set_size_inches(wide, wide * SHARE[1] / SHARE[0])
        figure.set_layout_engine("constrained")
        _lay_out(figure)
        shared = _bytes(figure, "png", dpi=SHARE[0] / wide)
        figure.set_size_inches(width, height)
    return shared


def _lay_out(figure: Figure) -> None:
    """Once for all formats, which would each draw twice to lay out anew."""
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)  # "none" leaves a place holder, for which each format draws twice as well


def _frame(figure: Figure, title: str, stamp: str) -> None:
    room = figure.get_figwidth() - 0.1
    left = 0.05 / figure.get_figwidth()
    if title:
        size = matplotlib.rcParams["figure.titlesize"]
        # Bold letters are a tenth wider than those that `wrapped` measures.
        figure.suptitle(balanced(title, room / 1.12, size), x=left, ha="left")
    if stamp:
        size = 0.9 * points()
        lines = wrapped(stamp, room, size, BETWEEN)
        figure.supxlabel(lines, x=left, ha="left", color=QUIET, fontsize=size, fontweight="normal")


def _bytes(figure: Figure, kind: str, **options) -> bytes:
    buffer = io.BytesIO()
    options |= {"pil_kwargs": FAST} if kind == "png" else {}
    figure.savefig(buffer, format=kind, metadata=METADATA[kind], **options)
    return buffer.getvalue()


def rehearse() -> None:
    """Make a figure in all its forms for nobody: whatever is forked from this process has its modules and fonts at hand."""
    figure, ax = new_figure()
    ax.plot((0, 1), (0, 1), label="text")
    ax.legend()
    _saved(figure, "A title", "a stamp")
    _share(figure)
