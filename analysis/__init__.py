"""Conference review statistics: from public reviews to numbers and figures with their date, population and error."""

from pathlib import Path

__version__ = "0.1.0"

# Everything the suite reads or writes by default lies below this folder, wherever it is started from.
ROOT = Path(__file__).resolve().parent.parent
DATABASE = ROOT / "data" / "reviews.duckdb"
