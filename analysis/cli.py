"""The commands. Each imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from analysis import DATABASE, ROOT, __version__
from analysis.errors import Trouble, choices

FORMATS = ("table", "csv", "json", "markdown", "latex")

EXAMPLES = """\
examples:
  python -m analysis run                                   all bundled snapshots, all notebooks, figures/index.html
  python -m analysis stand --year 2026 2 4 6 6             where these ratings stand
  python -m analysis stat top --year 2020 --snapshot 2019-11-08
  python -m analysis stat --list
  python -m analysis status
  python -m analysis digest --year 2026                    what changed since the last snapshot
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; gives the exit status: 0 only when everything asked for was done."""
    try:
        options = _parser().parse_args(arguments)
        return options.command(options)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, RuntimeError) as stop:
        if isinstance(stop, RuntimeError) and str(stop) != "Query interrupted":  # Ctrl-C, as DuckDB tells it
            raise
        print("Stopped; what was complete is kept, and the same command goes on from there.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `| head` closed its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


# The parser ---------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis",
        description="Conference review statistics: public reviews to numbers and figures with their date and error.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_fetch(commands)
    _add_run(commands)
    _add_stand(commands)
    _add_stat(commands)
    _add_status(commands)
    _add_check(commands)
    _add_diff(commands)
    _add_digest(commands)
    _add_export(commands)
    _add_prune(commands)
    return parser


def _add(commands, name: str, run, description: str, example: str, *shared) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=description,
        description=description[0].upper() + description[1:] + ".",
        epilog=f"example:\n  python -m analysis {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=run)
    _add_where(parser)
    for add in shared:
        add(parser)
    return parser


def _add_where(parser) -> None:
    parser.add_argument("--venue", default="ICLR", help="conference (default: ICLR)")
    parser.add_argument(
        "--database",
        type=Path,
        default=DATABASE,
        metavar="PATH",
        help="database, or folder of Parquet (default: data/reviews.duckdb)",
    )


def _add_years(parser) -> None:
    parser.add_argument("--years", "--year", default="", metavar="YEARS", help="2020, or 2020,2023-2025, or all")


def _add_snapshot(parser) -> None:
    parser.add_argument(
        "--snapshot", default="", metavar="NAME", help="a snapshot's name, or latest, release, decision"
    )
    _add_source(parser)


def _add_source(parser) -> None:
    parser.add_argument(
        "--source", default="", choices=("bundled", "notes", "api"), help="only snapshots from this source"
    )


def _add_population(parser) -> None:
    parser.add_argument("--population", default="", metavar="WHICH", help="all, reviewed, active or decided papers")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default: 0)")


def _add_format(parser) -> None:
    parser.add_argument("--format", default="table", choices=FORMATS, help="how to print (default: table)")


def _add_scheduler(parser) -> None:
    parser.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="have a Dask cluster do it (docs/cluster.md), as tcp://host:8786",
    )


def _add_fetch(commands) -> None:
    parser = _add(
        commands,
        "fetch",
        _fetch,
        "load snapshots into the store",
        "fetch --source api --years 2025,2026",
        _add_years,
        _add_snapshot,
    )
    parser.add_argument(
        "--load", nargs="+", type=Path, default=[], metavar="FILE", help="saved answers of the OpenReview API"
    )
    parser.add_argument(
        "--max-wait", type=float, default=75, metavar="MINUTES", help="longest wait for the API's limits (default: 75)"
    )
    parser.add_argument("--unreadable", action="store_true", help="go on where many reviews have no readable rating")
    parser.add_argument("--rebuild", action="store_true", help="make the tables anew from the notes in data/notes/")


def _add_run(commands) -> None:
    parser = _add(
        commands,
        "run",
        _run,
        "execute the notebooks and make figures/index.html",
        "run --years 2020 --only 02,03",
        _add_years,
    )
    _add_snapshot(parser)
    parser.add_argument("--only", default="", metavar="NUMBERS", help="only these notebooks, as 02,03")
    parser.add_argument("--jobs", type=int, default=0, help="notebooks at a time (default: one more than cores)")
    parser.add_argument("--force", action="store_true", help="run also what is up to date")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and why; bundled counts are loaded")
    parser.add_argument("--cell-timeout", type=int, default=0, metavar="SECONDS", help="stop a cell after so long")
    _add_scheduler(parser)
    parser.add_argument(
        "--width", default="", choices=("", "iclr", "column", "slide"), help="figures for this print width"
    )
    parser.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help="a notebook parameter"
    )


def _add_stand(commands) -> None:
    parser = _add(
        commands,
        "stand",
        _stand,
        "where these ratings stand, and what was decided for such papers",
        "stand --year 2020 --snapshot final 6 6 6",
        _add_years,
        _add_snapshot,
        _add_format,
    )
    parser.add_argument("ratings", nargs="*", metavar="RATING", help="the ratings of one paper")
    parser.add_argument(
        "--average", default="", metavar="A", help="instead of ratings: their average, as printed somewhere"
    )
    parser.add_argument(
        "--population",
        default="reviewed",
        choices=("reviewed", "active", "decided"),
        help="among which papers (default: reviewed)",
    )


def _add_stat(commands) -> None:
    parser = _add(
        commands,
        "stat",
        _stat,
        "print one statistic",
        "stat ratings --year 2026 --format markdown",
        _add_years,
        _add_snapshot,
        _add_population,
        _add_format,
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the statistic; --list shows them")
    parser.add_argument("--list", action="store_true", help="list the statistics")
    parser.add_argument("--by", default="", metavar="COLUMN", help="split by a column of papers or reviews")
    parser.add_argument(
        "--word",
        default="",
        help="what `search` looks for in titles and keywords; /between slashes/ a regular expression",
    )
    parser.add_argument(
        "--join", type=Path, metavar="FILE", help="CSV or Parquet with columns of your own, by forum or review_id"
    )
    parser.add_argument(
        "--draws", type=_positive, default=0, metavar="N", help="so many bootstrap draws, or simulations"
    )
    _add_scheduler(parser)


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of draws (1 or more)")
    return int(text)


def _add_status(commands) -> None:
    _add(
        commands,
        "status",
        _status,
        "list the snapshots in the store, against the official counts",
        "status",
        _add_years,
        _add_format,
    )


def _add_diff(commands) -> None:
    parser = _add(
        commands,
        "diff",
        _diff,
        "list the reviews that were added, removed or changed between two snapshots",
        "diff --year 2020 2019-11-08 2019-12-01 --format csv",
        _add_years,
        _add_format,
    )
    _add_source(parser)
    parser.add_argument("first", metavar="FIRST", help="a snapshot's name, or latest, release, decision")
    parser.add_argument("second", metavar="SECOND", help="another one of the same year")


def _add_digest(commands) -> None:
    parser = _add(
        commands,
        "digest",
        _digest,
        "tell what changed since the last snapshot, in five sentences and a table",
        "digest --year 2026 --format html > today.html",
        _add_years,
        _add_snapshot,
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default: 0)")
    parser.add_argument("--format", default="table", choices=(*FORMATS, "html"), help="how to print (default: table)")


def _add_export(commands) -> None:
    parser = _add(
        commands,
        "export",
        _export,
        "write the tables as Parquet, partitioned by venue and year",
        "export --to shared/iclr --years 2020,2026   (--venue all: every venue in the store)",
        _add_years,
    )
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="the folder to make, or to replace")


def _add_prune(commands) -> None:
    parser = _add(
        commands,
        "prune",
        _prune,
        "remove old fetched snapshots; of each stage the first and the last stay, and so does the last week",
        "prune --year 2027 --keep 14 --dry-run   (--venue all: every venue in the store)",
        _add_years,
        _add_format,
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=7,
        metavar="DAYS",
        help="days to keep, back from a year's newest snapshot (default: 7)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would stay, and why")


def _add_check(commands) -> None:
    _add(
        commands,
        "check",
        _check,
        "recompute every published number from the store, and say which differ",
        "check --years 2020",
        _add_years,
        _add_format,
    )


# The commands -------------------------------------------------------------------------------------------------------


def _years(options, default: str = "") -> tuple[int, ...]:
    """The years asked for; `all` means those that can be had without a fetch."""
    from analysis.venues import known_years, parse_years

    text = options.years or default
    if not text:
        raise Trouble("Which year? Give --year, as in --year 2020 (or --years all).")
    if text != "all":
        return tuple(parse_years(text, options.venue, options.database))
    from analysis.fetch import available_years

    known_years(options.venue, options.database)  # an unknown venue is told as such
    found = available_years(options.database, options.venue, getattr(options, "source", ""))
    if not found:
        raise Trouble(f"No year of {options.venue} is in the store; fetch one first.")
    return tuple(found)


def _one_year(options, command: str) -> int:
    years = _years(options)
    if len(years) != 1:
        raise Trouble(f"`{command}` takes one year, not {len(years)}.")
    return years[0]


def _fetch(options) -> int:
    from analysis import fetch

    if options.rebuild:
        fetch.rebuild(options.database, _tell)
        return 0
    source = options.source or ("notes" if options.load else "bundled")
    asked = fetch.Asked(source, tuple(options.load), options.snapshot, options.max_wait, options.unreadable)
    # The years of saved notes are told by the notes, and `all` means the bundled ones: of others nobody wants all at once.
    years = (
        () if source == "notes" and not options.years else _years(options, default="all" if source == "bundled" else "")
    )
    fetch.fetch(options.venue, years, asked, options.database, _tell)
    return 0


def _run(options) -> int:
    from analysis import page, runner

    settings = runner.Settings(
        venue=options.venue,
        source=options.source,
        snapshot=options.snapshot,
        only=tuple(filter(None, options.only.split(","))),
        database=options.database.absolute(),
        jobs=options.jobs,
        force=options.force,
        dry_run=options.dry_run,
        cell_timeout=options.cell_timeout,
        scheduler=options.scheduler,
        given={**dict(options.p), **({"width": options.width} if options.width else {})},
    )
    years = _years(options, default="all")
    if options.dry_run:
        return runner.run(years, settings, _tell).status
    with runner.alone(settings.root, _tell):
        result = runner.run(years, settings, _tell)
        print(f"The page is {page.make(ROOT / 'figures', settings.database)}")
    return result.status


def _stand(options) -> int:
    from analysis import standing

    year = _one_year(options, "stand")
    printed, remarks = standing.answer(
        options.database,
        options.venue,
        year,
        options.snapshot,
        options.source,
        options.ratings,
        options.average,
        options.format,
        options.population,
    )
    print(printed)
    for remark in remarks:
        _tell(remark)
    return 0


def _stat(options) -> int:
    from analysis import tables
    from analysis.compute import Asked, compute

    if options.list or not options.name:
        return _list_statistics(options)
    asked = Asked(
        options.database,
        options.venue,
        _years(options, default="" if options.name != "years" else "all"),
        options.snapshot,
        options.population,
        options.source,
        options.by,
        options.join,
        options.seed,
        options.word,
        options.draws,
    )
    with _spread(options.scheduler):
        answer = compute(options.name, asked)
    for remark in answer.remarks:
        _tell(remark)
    caption = "; ".join(answer.titles)
    print(tables.text(answer.frame, options.format, shares=answer.shares, caption=caption))
    return 0


def _spread(scheduler: str):
    """What is drawn at random is drawn on a cluster, where one is given."""
    if not scheduler:
        return contextlib.nullcontext()
    from analysis import cluster

    return cluster.spread(scheduler, _tell)


def _list_statistics(options) -> int:
    from analysis.statistics import statistics

    if not options.list:
        raise Trouble(f"Which statistic? There are {choices(statistics())}; --list says what each one tells.")
    known = statistics()
    width = max(map(len, known))
    for name, one in known.items():
        print(f"{name:<{width}}  {one.question}")
    return 0


def _status(options) -> int:
    from analysis import status, tables

    frame = status.status(options.database, options.venue, _years(options) if options.years else ())
    print(tables.text(frame, options.format))
    return 0


def _diff(options) -> int:
    from analysis import changes

    year = _one_year(options, "diff")
    found = changes.changes(options.database, options.venue, year, options.first, options.second, options.source)
    print(changes.printed(found, options.format))
    _tell(found.sentence())
    return 0


def _digest(options) -> int:
    from analysis import digest

    year = _one_year(options, "digest")
    told = digest.digest(options.database, options.venue, year, options.snapshot, options.source, options.seed)
    print(digest.printed(told, options.format))
    for remark in told.remarks:
        _tell(remark)
    return 0


def _export(options) -> int:
    from analysis.export import export

    venue, years = _asked_of_the_store(options)
    if venue:
        years = _years(options, default="all")  # bundled ones are loaded
    print(export(options.database, options.to, venue, years))
    return 0


def _prune(options) -> int:
    from analysis import tables
    from analysis.prune import prune

    venue, years = _asked_of_the_store(options)
    frame = prune(options.database, venue, years, options.keep, options.dry_run, _tell)
    print(tables.text(frame, options.format))
    return 0


def _asked_of_the_store(options) -> tuple[str, tuple[int, ...]]:
    """A venue and years of which there may be anything in the store; nothing where all are meant."""
    from analysis.venues import parse_years

    venue = "" if options.venue == "all" else options.venue
    if options.years in ("", "all"):
        return venue, ()
    return venue, tuple(parse_years(options.years, venue or "ICLR", options.database))


def _check(options) -> int:
    from analysis import check, tables

    years = _years(options) if options.years else ()
    found = check.check(ROOT / "figures", options.database, years, options.venue, ROOT)
    for remark in (*found.remarks, found.sentence):
        _tell(remark)
    if not found.differs.empty or options.format != "table":
        print(tables.text(found.differs, options.format))
    return int(not found.differs.empty)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
