#!/usr/bin/env bash
# Sets up .venv with the test tools, then runs the whole test suite; arguments go to pytest.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
. "$root/environment.sh"
ensure_environment requirements-test.lock

cd "$root"
exec "$python" -m pytest "$@"
