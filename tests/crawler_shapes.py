"""Notes out of the formats of other people's crawlers, so that real data can be read as the API would have given it.

Each function takes one line of a file in shared/data and gives the notes of one paper in the API's own shape.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

Note = dict[str, Any]


def lines(path: Path) -> Iterator[Any]:
    """The values of a gzip file of JSON lines."""
    with gzip.open(path) as file:
        yield from map(orjson.loads, file)


def answer(line: dict[str, Any]) -> list[Note]:
    """`{"notes": [...]}`, with or without the forum beside it, is the API's own shape."""
    return line["notes"]


def tracker_2026(line: dict[str, Any]) -> list[Note]:
    """A flattened submission with raw replies (ICLR2026ReviewTracker): wrapped again, its status put in `venueid`."""
    venue = "ICLR.cc/2026/Conference"
    status = "Withdrawn_Submission" if line.get("withdrawn") else "Submission"
    content = {**line["content"], "venueid": f"{venue}/{status}"}
    submission = {
        "id": line["id"], "forum": line["id"], "number": line["number"],
        "invitations": [f"{venue}/-/Submission"], "signatures": [f"{venue}/Submission{line['number']}/Authors"],
        "readers": ["everyone"], "tcdate": line["cdate"], "tmdate": line["mdate"],
        "content": {name: {"value": value} for name, value in content.items()},
    }  # fmt: skip
    return [submission, *line["replies"]]


def content_2020(line: dict[str, Any]) -> list[Note]:
    """A review's content alone (iclr-analysis): its reviewer stands in the title, `Official Blind Review #2`."""
    number = re.search(r"#([0-9]+)$", line["content"]["title"])[1]
    group = "ICLR.cc/2020/Conference/Paper1"
    return [{
        "id": line["id"], "forum": line["forum"], "replyto": line["forum"], "content": line["content"],
        "invitation": f"{group}/-/Official_Review", "signatures": [f"{group}/AnonReviewer{number}"],
        "readers": ["everyone"], "tcdate": None, "tmdate": None,
    }]  # fmt: skip


def threads_2024(line: dict[str, Any]) -> list[Note]:
    """Raw notes nested as a conversation (openreviewer)."""
    threads = line["thread"][1:]  # the first one is the title
    return [note for thread in threads for note in (thread["review"], *thread.get("responses", []))]


def final_2026(line: dict[str, Any]) -> list[Note]:
    """A paper after its decision (ICLR-2025-Analysis, which holds 2026): scores, and the decision where it is known."""
    venue, number, forum = "ICLR.cc/2026/Conference", line["number"], line["id"]
    group = f"{venue}/Submission{number}"

    def note(name: str, place: int, signature: str, content: dict[str, Any]) -> Note:
        return {
            "id": f"{forum}-{name}-{place}", "forum": forum, "invitations": [f"{group}/-/{name}", f"{venue}/-/Edit"],
            "signatures": [signature], "readers": ["everyone"],
            "content": {field: {"value": value} for field, value in content.items()},
        }  # fmt: skip

    content = {name: line[name] for name in ("title", "keywords", "primary_area", "venue", "venueid")}
    submission = {**note("Submission", 0, f"{group}/Authors", content), "id": forum, "number": number}
    submission["invitations"] = [f"{venue}/-/Submission"]
    reviews = [
        note("Official_Review", place, f"{group}/Reviewer_{place:04d}", review)
        for place, review in enumerate(line["reviews"])
    ]
    known = line["decision"] != "Unknown"
    decisions = [note("Decision", 0, f"{venue}/Program_Chairs", {"decision": line["decision"]})] if known else []
    return [submission, *reviews, *decisions]
