"""The fetch command in processes that can be killed, each forked from one that has imported everything.

    with Fetcher() as fetcher:
        done = fetcher.run("--source", "api", "--years", "2020", environment=server.environment, kill_at=17)

`kill_at` counts what the process does to files and to the network; at that moment it gets the signal. Waiting takes
no time, a page holds `page` submissions, and from `large` bytes on an answer is read in another process.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNTED = {"open", "os.rename", "os.remove", "os.truncate", "http.client.send", "http.client.connect", "fsync"}


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit status (negative: the signal), what it printed, and how much it had done."""

    status: int
    out: str
    err: str
    steps: int


class Fetcher:
    """Runs commands; `with` makes sure that nothing of it is left."""

    def __enter__(self) -> Fetcher:
        self._place = tempfile.TemporaryDirectory()
        environment = {name: text for name, text in os.environ.items() if not name.startswith("OPENREVIEW")}
        self._parent = subprocess.Popen(
            [sys.executable, __file__], cwd=ROOT, env=environment, stdin=-1, stdout=-1, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.stdin.close()
        self._parent.wait()
        self._parent.stdout.close()
        self._place.cleanup()

    def start(self, *arguments: object, environment: dict[str, str], page: int = 20, **how) -> int:
        """Begin a command; gives its process. With it no other may run until `result`."""
        order = {"arguments": ["fetch", *map(str, arguments)], "environment": environment, "page": page}
        self._parent.stdin.write(json.dumps(order | how | {"place": self._place.name}) + "\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def result(self) -> Done:
        status, (out, err, steps) = int(self._parent.stdout.readline()), map(self._read, ("out", "err", "steps"))
        return Done(status, out, err, int(steps or 0))

    def run(self, *arguments: object, **how) -> Done:
        self.start(*arguments, **how)
        return self.result()

    def _read(self, name: str) -> str:
        path = Path(self._place.name, name)
        return path.read_text() if path.exists() else ""


# In the process that forks ------------------------------------------------------------------------------------------


def main() -> None:
    import openreview.api  # noqa: F401

    from analysis import cli, fetch, intake  # noqa: F401
    from analysis.sources import openreview as source  # noqa: F401

    for text in sys.stdin:
        order = json.loads(text)
        child = os.fork()
        if child == 0:
            _child(order)
        print(child, flush=True)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, flush=True)


def _child(order: dict) -> None:
    place = Path(order["place"])
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(order["environment"])
    try:
        os._exit(_command(order, place))
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(99)


def _command(order: dict, place: Path) -> int:
    from analysis import ahead, cli
    from analysis.sources import openreview as source

    source.PAGE = order["page"]
    ahead.LARGE = order.get("large", ahead.LARGE)
    patient = source.Session.__init__

    def quick(self, say, max_wait=75, **more):
        now, slept = time.time(), []
        more |= {"sleep": slept.append, "clock": lambda: now + sum(slept), "timeout": (2, order.get("read", 5))}
        patient(self, say, max_wait, **more)

    source.Session.__init__ = quick
    count, at, number = itertools.count(1), order.get("kill_at"), order.get("signal", signal.SIGKILL)
    steps = os.open(place / "steps", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def step(event: str, arguments: object = ()) -> None:
        if event in COUNTED:
            now = next(count)
            os.pwrite(steps, b"%d" % now, 0)
            if now == at:
                os.kill(os.getpid(), number)

    sync = os.fsync
    os.fsync = lambda number: (step("fsync"), sync(number))
    sys.addaudithook(step)
    status = cli.main(order["arguments"])
    sys.stdout.flush(), sys.stderr.flush()
    return status


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]
    main()
