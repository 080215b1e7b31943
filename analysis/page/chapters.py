"""What the notebooks published: a chapter for each manifest, read and put in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from analysis.errors import Trouble


@dataclass(frozen=True)
class Chapter:
    """What one notebook published in one place."""

    folder: PurePosixPath  # below figures/
    book: dict

    @property
    def place(self) -> str:
        """The folder of the year, or of the whole venue."""
        return self.folder.parts[0]

    @property
    def snapshot(self) -> str:
        """The folder of the snapshot; empty for what is about a whole year or venue."""
        return "/".join(self.folder.parts[1:-1])

    @property
    def notebook(self) -> str:
        return self.book["notebook"]

    @property
    def title(self) -> str:
        """``ICLR 2020``, or ``ICLR, all years``."""
        year = self.book["year"]
        return f"{self.book['venue']}, all years" if year is None else f"{self.book['venue']} {year}"

    @property
    def order(self) -> tuple:
        """The whole venue, then its years, newest first; of a year what is about all of it, then snapshots in time."""
        year, name = self.book["year"], self.snapshot
        return self.book["venue"], year is not None, -(year or 0), name != "", name == "final", name, self.folder.name

    def address(self, file: str) -> str:
        """The address of a file of this chapter, from the page."""
        return quote(f"{self.folder}/{file}")


def chapters(figures: Path) -> list[Chapter]:
    """What the manifests below `figures` say, in the order of the page."""
    folders = [path.parent for path in figures.rglob("manifest.json")]
    found = [Chapter(PurePosixPath(folder.relative_to(figures).as_posix()), _book(folder)) for folder in folders]
    return sorted(found, key=lambda chapter: chapter.order)


def _book(folder: Path) -> dict:
    try:
        book = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if {"notebook", "venue", "year", "figures", "tables", "numbers"} <= book.keys():
            return book
    except (OSError, ValueError, AttributeError):
        pass
    raise Trouble(f"The manifest of {folder} cannot be read; remove that folder or run its notebook with --force.")


def stage_of(name: str, these: Sequence[Chapter]) -> str:
    """The stage of a snapshot; a notebook whose numbers are of another snapshot does not say the stage of this one."""
    stages = [one["stage"] for chapter in these for one in chapter.book.get("samples", ()) if one["snapshot"] == name]
    return stages[0] if stages else ""


def named(name: str, stage: str) -> str:
    """``2019-11-08 (release)``, or ``final``."""
    return f"{name} ({stage})" if stage not in ("", name) else name
