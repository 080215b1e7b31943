"""Where snapshots come from: bundled counts, saved notes, the OpenReview API."""

NAMES = ("bundled", "notes", "api")
