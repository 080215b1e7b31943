"""Where do I stand, on the page: the counts of every snapshot for the script, the form, and the page in one file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from analysis import sample, standing, store
from analysis.page.commands import venue_option
from analysis.page.executed import TITLE
from analysis.page.numbers import Part
from analysis.places import place
from analysis.snapshots import Snapshot, choose
from analysis.venues import venue_year

ASSETS = Path(__file__).with_name("assets")
EXAMPLE = "6 6 6"
COUNTED = ("reviewed", "active", "decided", "accepted")  # the last columns of the profiles: see `standing.counted`


def held(database: Path, venue: str = "") -> list[Snapshot]:
    """The snapshots in the store, if there is one."""
    return store.held(database, venue)


def write(site) -> list[dict]:
    """Write the counts of each year as a script, and all of them as stand.html; gives the index of years for the form."""
    offered, scripts = [], []
    years = groupby(held(site.database), key=lambda one: (one.venue, one.year))
    for (venue, year), group in years:
        some = [one for one in group if one.reviews]
        if not some:
            continue
        key = f"{venue} {year}"
        script = _script(site, key, venue, year, some)
        scripts.append(script)
        offered.append(_offer(site.database, key, venue, year, some))
    offered.sort(key=lambda one: (one["venue"], -one["year"]))
    if offered:
        site.write("stand.html", _alone(offered, scripts))
    return offered


def _file(venue: str, year: int) -> str:
    return f"page/stand-{venue.lower().replace('/', '-')}-{year}.js"


def _offer(database: Path, key: str, venue: str, year: int, some: list[Snapshot]) -> dict:
    usual, _ = choose(some, "", venue_year(venue, year, database).decision_snapshot, standing.USUAL)
    stages = {one.name: one.stage for one in some}
    snapshots = [{"name": name, "stage": stage} for name, stage in stages.items()]
    return {
        "key": key,
        "venue": venue,
        "year": year,
        "file": _file(venue, year),
        "usual": usual.name,
        "snapshots": snapshots,
    }


def _script(site, key: str, venue: str, year: int, some: list[Snapshot]) -> str:
    """The counts of a year as a script; the one that is there is kept where neither data nor the suite changed."""
    stamp = _stamp(site.database, some)
    path = site.figures / _file(venue, year)
    if path.is_file() and (text := path.read_text(encoding="utf-8")).startswith(stamp):
        site.written.add(path)
        return text
    data = _counted(site.database, venue, year, some)
    inside = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    text = f"{stamp}\nStanding.data[{json.dumps(key)}] = {inside};\n"
    site.write(_file(venue, year), text)
    return text


def _counted(database: Path, venue: str, year: int, some: list[Snapshot]) -> dict[str, dict]:
    names = dict.fromkeys(one.name for one in some)
    return {name: standing.counted(sample.load(database, venue, year, name, population="all")) for name in names}


def recomputed(database: Path, years: Sequence[int] = ()) -> Iterator[tuple[str, str, dict]]:
    """For each year the file of its counts, its name, and the counts as they are in the store now."""
    for (venue, year), group in groupby(held(database), key=lambda one: (one.venue, one.year)):
        some = [one for one in group if one.reviews]
        if some and (not years or year in years):
            counts = json.loads(json.dumps(_counted(database, venue, year, some)))
            yield _file(venue, year), f"{venue} {year}", counts


def parsed(script: str) -> dict:
    """The counts that a script holds."""
    return json.loads(script.partition(" = ")[2].rstrip().removesuffix(";"))


# The counts themselves: how many papers have the same ratings, and how many of these were accepted.
PROFILES = """
select ratings, count(*) as papers, count(*) filter (outcome = 'accepted') as accepted
from (
    select paper, any_value(outcome) as outcome, list_sort(list(rating)) as ratings
    from reviews join submissions using (snapshot_id, paper) join snapshots using (snapshot_id)
    where rating is not null and venue = $1 and year = $2 and name = $3 and source = $4
    group by paper
)
group by ratings
order by ratings
"""


def parts(figures: Path) -> Iterator[Part]:
    """What the answers of the page are made of, snapshot by snapshot, as far as its scripts are there."""
    for path in sorted((figures / "page").glob("stand-*.js")):
        for counts in parsed(path.read_text(encoding="utf-8")).values():
            yield _part(f"page/{path.name}", counts)


def _part(file: str, counts: dict) -> Part:
    of = {name: counts[name] for name in ("venue", "year", "snapshot", "stage", "source")}
    levels = len(counts["levels"])
    most = max(counts["profiles"], key=lambda row: row[levels], default=[])
    typed = " ".join(str(level) for level, times in zip(counts["levels"], most, strict=False) for _ in range(times))
    command = (
        f"python -m analysis stand{venue_option(of['venue'])} --year {of['year']} --snapshot {of['snapshot']} {typed}"
    )
    sql = {
        "sql": " ".join(PROFILES.split()),
        "parameters": [of[name] for name in ("venue", "year", "snapshot", "source")],
    }
    digest = hashlib.sha256(json.dumps(counts, sort_keys=True).encode()).hexdigest()
    about = {**of, "file": file, "sha256": digest, "queries": [sql, {"command": command}]}
    sums = [sum(row[levels + place] for row in counts["profiles"]) for place in range(len(COUNTED))]
    known = {"complete": COUNTED, "accepted only": ("reviewed", "accepted"), "none": COUNTED[:1]}[counts["outcomes"]]
    numbers = {
        f"?papers={name}": {"value": value, "n": sums[0]}
        for name, value in zip(COUNTED, sums, strict=True)
        if name in known
    }
    return Part(f"{place(of['venue'], of['year'], of['snapshot'])}/stand", about, numbers)


def _stamp(database: Path, some: list[Snapshot]) -> str:
    """A comment that names what a script was made of."""
    from analysis.runner import package_digest

    own = database.parent / "venues.toml"
    parts = [package_digest(), own.read_text(encoding="utf-8") if own.is_file() else ""]
    parts += [f"{one.name} {one.source} {one.digest}" for one in some]
    return f"/* {hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]} */"


# HTML ---------------------------------------------------------------------------------------------------------------


def form(offered: list[dict]) -> str:
    """The boxes for one's own ratings, and where the answer goes."""
    if not offered:
        return ""
    years = "".join(f'<option value="{escape(one["key"])}">{escape(one["key"])}</option>' for one in offered)
    return f"""<section class="stand" id="stand" aria-labelledby="stand-title" tabindex="-1">
<h2 id="stand-title">Where do I stand?</h2>
<form id="stand-form" class="boxes">
<label class="wide">Your ratings, or their average
<input id="ratings" name="ratings" inputmode="text" autocomplete="off" spellcheck="false" placeholder="{EXAMPLE}" aria-describedby="ratings-help"></label>
<label>Year <select id="stand-year">{years}</select></label>
<label>Stage <select id="stand-snapshot"></select></label>
<label>Among <select id="stand-population"></select></label>
</form>
<p class="quiet" id="ratings-help">As in <kbd>2 4 6 6</kbd> or <kbd>4.67</kbd>. Nothing you type leaves this page.</p>
<noscript><p>This needs scripts; <code>python -m analysis stand --year 2020 6 6 6</code> gives the same answer.</p></noscript>
<div id="answer" hidden>
<p id="sentence" role="status"></p>
<dl class="facts" id="facts"></dl>
<div id="histogram"></div>
<details id="tables-fold"><summary>The tables behind the sentence</summary><div id="tables"></div></details>
<ul class="remarks" id="stand-remarks"></ul>
</div>
</section>"""


def _alone(offered: list[dict], scripts: list[str]) -> str:
    """The same in one file, for a reader without a network."""
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    code = (ASSETS / "stand.js").read_text(encoding="utf-8")
    code += "\n" + "\n".join(scripts) + "\n" + (ASSETS / "form.js").read_text(encoding="utf-8")
    code = code.replace("</", "<\\/")
    icon = base64.b64encode((ASSETS / "icon.svg").read_bytes()).decode()
    about = json.dumps({"stand": offered}, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
    policy = f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Where do I stand? · {TITLE}</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
</head>
<body class="alone">
<header class="top"><div><h1>{TITLE}</h1></div></header>
<main>
{form(offered)}
</main>
<footer class="quiet"><p>Counts of past papers, not a prediction for yours.</p></footer>
<script type="application/json" id="about">{about}</script>
<script>{code}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    """How a Content-Security-Policy names the one text that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
