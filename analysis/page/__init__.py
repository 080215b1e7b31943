"""The page: figures/index.html and what lies beside it, made of everything that the notebooks published.

It reads the manifests and what they name, and counts of the store for one's own ratings. It makes no request to anywhere,
works from a folder as well as from any web host, and the same input gives the same bytes.
"""

from analysis.page.build import make
from analysis.page.chapters import chapters

__all__ = ["chapters", "make"]
