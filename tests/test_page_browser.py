"""The page in a headless Chromium, from a folder and from a server: what is typed, chosen, shown and asked for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from browser import Watched, chromium, executable, served

from analysis import page, sample, standing, tables
from analysis.draw import publish
from analysis.errors import Trouble
from analysis.statistics import standing as statistics
from analysis.statistics.ledger import rates
from analysis.statistics.ratings import ratings
from analysis.statistics.years import years

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="528" height="296"><rect width="528" height="296" fill="#ddd"/></svg>'
SNAPSHOTS = ((2019, "final"), (2020, "2019-11-08"), (2020, "final"), (2023, "final"), (2026, "2025-11-17"))
WIDTHS = (360, 768, 1440)


@pytest.fixture(scope="module")
def site(tmp_path_factory, bundled_store, bundled_sample) -> Path:
    """A page of several years; its figures are grey boxes, since drawing is slow and tested elsewhere."""
    executable()
    folder = tmp_path_factory.mktemp("site")
    for year, snapshot in SNAPSHOTS:
        publish_scores(folder, bundled_sample(year, snapshot))
    for year in (2019, 2020, 2023, 2026):
        everything = bundled_sample(year, "latest", "all")
        book = publish.book("01-fetch", everything, venue="ICLR", year=year, figures=folder)
        book.table("rates", rates(everything), "Acceptance rates.", shares=("value", "low", "high"))
    some = [bundled_sample(year, snapshot) for year, snapshot in SNAPSHOTS if snapshot != "2019-11-08"]
    book = publish.book("05-years", *some, venue="ICLR", figures=folder)
    add_figure(book, "years", years(some), "Years differ")
    page.make(folder, bundled_store, folder / "runs")
    return folder


def publish_scores(folder: Path, one: sample.Sample) -> None:
    book = publish.book("02-scores", one, figures=folder)
    frame = ratings(one)
    add_figure(book, "ratings", frame, f"Ratings of {one.snapshot.title}")
    book = publish.book("07-acceptance", one, figures=folder)
    add_figure(book, "sixes", frame, f"Sixes of {one.snapshot.title}")
    book.table("averages-by-outcome", frame, "Averages by outcome.", shares=("value", "low", "high"))


def add_figure(book: publish.Book, name: str, frame: pd.DataFrame, title: str) -> None:
    files = {kind: book._write(f"{name}.{kind}", SVG) for kind in ("svg", "pdf", "png")}
    files["csv"] = book._write(f"{name}.csv", f"{tables.text(frame, 'csv')}\n")
    words = {"title": title, "caption": f"{title}, in grey.", "alt": f"A grey box: {title}."}
    book.figures.append({"name": name, **words, "files": files, "width": 528, "height": 296})
    book._save()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def addresses(site) -> Iterator[dict[str, str]]:
    with served(site) as server:
        yield {"file": site.as_uri(), "server": server}


def shown(watched: Watched) -> list[str]:
    """The cards that are on the page, without those of all years."""
    return watched.page.eval_on_selector_all(".cards[data-question] .card", "cards => cards.map(card => card.id)")


def settled(watched: Watched, text: str) -> None:
    watched.page.wait_for_function("text => document.getElementById('shown').textContent === text", arg=text)


# Where do I stand ---------------------------------------------------------------------------------------------------


def random_inputs(number: int) -> list[tuple[int, str, str, str]]:
    """Year, snapshot, population and what is typed: mostly ratings of the scale, some averages, some nonsense."""
    draw, found = random.Random(6), []
    scales = {2019: range(1, 11), 2020: (1, 3, 6, 8), 2023: (1, 3, 5, 6, 8, 10), 2026: (0, 2, 4, 6, 8, 10)}
    known = {2026: ("reviewed",)}
    for _ in range(number):
        year, snapshot = draw.choice(SNAPSHOTS)
        population = draw.choice(known.get(year, ("reviewed", "active", "decided")))
        drawn = [draw.choice(scales[year]) for _ in range(draw.randint(1, 6))]
        typed = draw.choice([" ", ", ", "/"]).join(map(str, drawn))
        if draw.random() < 0.25:
            typed = f"{sum(drawn) / len(drawn):.{draw.randint(1, 3)}f}"
        elif draw.random() < 0.08:
            typed = draw.choice(["7 7", "6 six", "99.5", "6 6.5", "3 11 3", "1.2.3", "4.444"])
        found.append((year, snapshot, population, typed))
    return found


@cache
def commanded(bundled_store, year: int, snapshot: str, population: str, typed: str, tabled: bool) -> tuple[str, list]:
    """What the command `stand` prints: the sentence or the trouble, and its tables as cells where these are asked for."""
    whole = loaded(bundled_store, year, snapshot)
    parts = typed.replace(",", " ").replace("/", " ").split()
    average = parts[0] if len(parts) == 1 and "." in parts[0] else ""
    try:
        asked = standing.ask(whole, [] if average else parts, average)
    except Trouble as trouble:
        return str(trouble), []
    frames = standing.frames(whole, asked, population) if tabled else {}
    cells = []
    for name, frame in frames.items():
        names, columns, _ = tables._printed(frame, standing.SHARES[name])
        if len(frame):
            cells.append([names, *map(list, zip(*columns, strict=True))])
    return statistics.sentence(whole, asked, population), cells


@cache
def loaded(bundled_store, year: int, snapshot: str) -> sample.Sample:
    """The sample that `standing.answer` reads, read once."""
    return sample.load(bundled_store, "ICLR", year, snapshot, population="all")


ASK = """async ([key, snapshot, population, typed]) => {
  const find = (id) => document.getElementById(id);
  const choose = (id, value) => {
    if (find(id).value === value) return;
    find(id).value = value;
    find(id).dispatchEvent(new Event("change"));
  };
  choose("stand-year", key);
  while (!(key in Standing.data)) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done));
  choose("stand-snapshot", snapshot);
  choose("stand-population", population);
  find("ratings").value = typed;
  find("ratings").dispatchEvent(new Event("input"));
  const texts = (row) => [...row.cells].map((cell) => cell.textContent);
  const rows = [...document.querySelectorAll("#tables table")].map((table) => [...table.rows].map(texts));
  return [find("sentence").textContent, rows];
}"""


@pytest.mark.parametrize("name", ["index.html", "stand.html"])
def test_the_answer_is_that_of_the_command_for_200_random_inputs(browser, addresses, bundled_store, name):
    with Watched(browser) as watched:
        watched.open(f"{addresses['file']}/{name}")
        for place, (year, snapshot, population, typed) in enumerate(random_inputs(200)):
            tabled = place % 4 == 0  # the tables take most of the time
            sentence, cells = watched.page.evaluate(ASK, [f"ICLR {year}", snapshot, population, typed])
            expected = commanded(bundled_store, year, snapshot, population, typed, tabled)
            assert (sentence, cells if tabled else []) == expected, (year, snapshot, population, typed)
        assert watched.complaints == []


def test_the_command_itself_prints_what_the_test_above_expects(bundled_store):
    for year, snapshot, population, typed in random_inputs(200)[::25]:
        sentence, _ = commanded(bundled_store, year, snapshot, population, typed, False)
        parts = typed.replace(",", " ").replace("/", " ").split()
        average = parts[0] if len(parts) == 1 and "." in parts[0] else ""
        ratings = [] if average else parts
        try:
            printed, _ = standing.answer(
                bundled_store, "ICLR", year, snapshot, "", ratings, average, "table", population
            )
        except Trouble as trouble:
            printed = str(trouble)
        assert printed.split("\n")[0] == sentence


def test_the_histogram_marks_the_own_column_and_tells_it_in_words(browser, addresses):
    with Watched(browser) as watched:
        watched.open(f"{addresses['file']}/index.html#mine=6+6+6&of=ICLR+2020/final&among=reviewed")
        picture = watched.page.locator("#histogram svg")
        assert picture.get_attribute("aria-label").endswith("yours is level with 211 papers of 2,561 papers.")
        assert watched.page.locator("#histogram .own[width]").count() == 1
        assert "78.21 %" in watched.page.locator("#sentence").text_content()


def test_stand_html_is_one_small_file(site):
    assert (site / "stand.html").stat().st_size < 2_000_000
    assert "src=" not in (site / "stand.html").read_text().partition("<script type")[0]


# The page -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["file", "server"])
def test_filters_comparison_and_permalinks(browser, addresses, where):
    with Watched(browser, viewport={"width": 1280, "height": 900}) as watched:
        watched.open(f"{addresses[where]}/index.html")
        view = watched.page
        assert shown(watched)[0] == "iclr-2026/2025-11-17/07-acceptance/sixes"
        view.select_option("#year", "iclr-2020")  # the same stage: release
        settled(watched, "Shown: ICLR 2020, 2019-11-08 (release).")
        assert {one.split("/")[0] for one in shown(watched)} == {"iclr-2020"}
        view.select_option("#snapshot", "final")
        settled(watched, "Shown: ICLR 2020, final.")
        offered = view.eval_on_selector_all("#beside option", "all => all.map(one => one.value)")
        assert offered == ["", "iclr-2023/final", "iclr-2020/2019-11-08", "iclr-2019/final"]
        view.select_option("#beside", "iclr-2019/final")
        settled(watched, "Shown: ICLR 2020, final, beside ICLR 2019, final.")
        pairs = view.eval_on_selector_all(".pair", "all => all.map(one => [...one.children].map(card => card.id))")
        assert ["iclr-2020/final/02-scores/ratings", "iclr-2019/final/02-scores/ratings"] in pairs
        link = view.url
        watched.open(link)
        settled(watched, "Shown: ICLR 2020, final, beside ICLR 2019, final.")
        watched.open(f"{addresses[where]}/index.html#iclr-2023/final/02-scores/ratings")
        settled(watched, "Shown: ICLR 2023, final.")
        assert view.evaluate("document.activeElement.id") == "iclr-2023/final/02-scores/ratings"
        origin = f"{addresses[where]}/"
        assert [one for one in watched.requests if not one.startswith((origin, "about:"))] == []
        assert watched.complaints == []


def test_unlike_stages_are_told(browser, addresses):
    with Watched(browser) as watched:
        watched.open(f"{addresses['file']}/index.html#year=iclr-2020&snapshot=final&with=iclr-2020/2019-11-08")
        watched.page.wait_for_function("document.getElementById('shown').textContent.includes('different stages')")


def test_everything_is_reached_by_keyboard(browser, addresses):
    with Watched(browser, viewport={"width": 1280, "height": 900}) as watched:
        watched.open(f"{addresses['file']}/index.html")
        keys = watched.page.keyboard
        keys.press("Tab")
        assert watched.page.evaluate("document.activeElement.className") == "skip"
        seen = []
        for _ in range(40):
            keys.press("Tab")
            seen.append(watched.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert [one for one in seen if one in IDS] == IDS
        watched.page.focus("#ratings")
        keys.type("2 4 6 6")
        assert watched.page.locator("#sentence").text_content().startswith("2 4 6 6 (average 4.50) is above 52.82 %")
        watched.page.focus("#year")
        keys.type("ICLR 2019")
        settled(watched, "Shown: ICLR 2019, final.")
        watched.page.focus(".card summary")
        keys.press("Enter")
        assert watched.page.locator(".card details[open]").count() == 1
        assert watched.complaints == []


IDS = ["theme", "ratings", "stand-year", "stand-snapshot", "stand-population", "year", "snapshot", "beside"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["index.html", "stand.html"])
def test_no_serious_finding_of_axe_and_no_sideways_scrolling(browser, addresses, name, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed: run ./run_tests.sh."
    )
    with Watched(browser, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True) as watched:
        with_more = "#mine=6+6+6&of=ICLR+2020/final&among=reviewed&year=iclr-2020&snapshot=final&with=iclr-2019/final"
        watched.open(f"{addresses['file']}/{name}{with_more}")
        watched.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        found = axe.Axe().run(watched.page).response["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
        assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_theme_is_kept(browser, addresses):
    with Watched(browser) as watched:
        watched.open(f"{addresses['server']}/index.html")
        watched.page.click("#theme")
        watched.page.click("#theme")
        watched.page.reload()
        assert watched.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert watched.page.locator("#theme").text_content() == "Theme: dark"


def test_pictures_wait_until_they_are_near(browser, addresses):
    with Watched(browser, viewport={"width": 360, "height": 640}) as watched:
        watched.open(f"{addresses['server']}/index.html")
        asked = {one for one in watched.requests if one.endswith(".svg")}
        assert len(asked) < watched.page.locator("img").count()
        assert not any("cards-" in one for one in watched.requests)


def test_without_scripts_the_newest_year_is_there(browser, addresses):
    with Watched(browser, java_script_enabled=False) as watched:
        watched.page.goto(f"{addresses['file']}/index.html")
        assert watched.page.locator(".card").count() > 3
        assert "python -m analysis stand" in watched.page.content()
