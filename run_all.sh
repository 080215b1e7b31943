#!/usr/bin/env bash
# Sets up .venv when it is missing or stale, then: python -m analysis run "$@"
#   ./run_all.sh                                  bundled snapshots, all notebooks, figures/index.html
#   ./run_all.sh --years 2020 --snapshot final    one of them
#   ./run_all.sh lab                              JupyterLab
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
. "$root/environment.sh"
ensure_environment requirements.lock

export PYTHONPATH="$root"
if [ "${1:-}" = lab ]; then
    shift
    cd "$root"
    exec "$python" -m jupyter lab "$@"
fi
exec "$python" -m analysis run "$@"
