#!/usr/bin/env bash
# Sets up .venv with the test tools, then runs the whole test suite on all cores; arguments go to pytest (-n0: on one).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
. "$root/environment.sh"
ensure_environment requirements-test.lock

# Whatever the tests write, and whatever those write that they kill, is in one place that goes with them.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$root"
TMPDIR="$scratch" "$python" -m pytest -n logical --dist worksteal "$@"
