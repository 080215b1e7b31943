"""docs/troubleshooting.md: an entry for each sentence that a user can meet, and none for sentences that are gone."""

import ast
import re

import pytest

from analysis import ROOT

TEXT = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
PHRASES = re.findall(r"^\| `(.+?)` \|", TEXT, flags=re.MULTILINE)


def _words(node: ast.expr) -> str:
    """The fixed words of a sentence; what is filled in becomes a gap."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) if isinstance(part, ast.Constant) else "\0" for part in node.values)
    return "\0"


def _sentences() -> dict[str, str]:
    """All sentences of Trouble in the package, by place."""
    found = {}
    for path in sorted((ROOT / "analysis").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Trouble":
                words = "".join(map(_words, node.args[:1]))
                if len(re.findall(r"\w{3,}", words)) > 1:  # else the sentence is made elsewhere
                    found[f"{path.relative_to(ROOT)}:{node.lineno}"] = words
    return found


SENTENCES = _sentences()
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "analysis").rglob("*.py")))


def _in(phrase: str, sentence: str) -> bool:
    return phrase.casefold() in sentence.casefold()


@pytest.mark.parametrize("place", SENTENCES)
def test_every_sentence_has_an_entry(place):
    assert any(_in(phrase, SENTENCES[place]) for phrase in PHRASES), SENTENCES[place]


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_entry_is_of_a_sentence_that_exists(phrase):
    assert any(_in(phrase, sentence) for sentence in SENTENCES.values()) or _in(phrase, SOURCE)
