"""The one exception for trouble that is expected."""


class Trouble(Exception):
    """Expected trouble, told in one sentence.

    The sentence names the value, the allowed values and the next thing to try. The command line prints it and exits with
    a status that is not 0; it never shows a traceback for it.
    """


def choices(values) -> str:
    """Join values for a sentence: ``a, b or c``; ``none`` when there is nothing to choose from."""
    words = [str(value) for value in values]
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} or {words[-1]}"


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 paper``, ``2,594 papers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float, digits: int = 1) -> str:
    """A share for a sentence: ``27.5 %``."""
    return f"{100 * share:.{digits}f} %"


def signed(share: float, digits: int = 0) -> str:
    """A difference of shares in points, with its sign: ``+12``, ``0``, and a real minus sign for what is less."""
    return with_sign(100 * share, digits)


def with_sign(value: float, digits: int = 2) -> str:
    """A difference with its sign: ``+0.55``, ``0.00``, and a real minus sign for what is less."""
    said = f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return said if float(f"{value:.{digits}f}") else said[1:]
