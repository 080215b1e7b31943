# Makes or refreshes .venv from a lock file; read by run_all.sh and run_tests.sh, not run by itself.
# Expects $root, the folder of the project; sets $python, the interpreter of .venv.

python="$root/.venv/bin/python"

find_python() {
    local name
    for name in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "Python 3.11 or newer is needed and was not found; install it, or name one: PYTHON=/path/to/python $0" >&2
    return 1
}

# Two locks may share one environment, so each has its own stamp. A moved folder breaks an environment: its path is in the stamp.
ensure_environment() {
    local lock="$root/$1" stamp="$root/.venv/$1.installed" wanted chosen
    wanted="$root $(cksum <"$lock")"
    if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && "$python" -c '' 2>/dev/null; then
        return
    fi
    chosen=$(find_python) || exit 1
    if ! "$python" -c 'import sys; sys.exit(sys.prefix != sys.argv[1])' "$root/.venv" 2>/dev/null; then
        echo "Making .venv with $("$chosen" --version)" >&2
        "$chosen" -m venv --clear "$root/.venv" || {
            echo "The environment could not be made; Debian and Ubuntu need the package python3-venv." >&2
            exit 1
        }
    fi
    echo "Installing $(grep -c '==' "$lock") packages from $1 (a minute or two the first time)" >&2
    "$python" -m pip install -qq --disable-pip-version-check --requirement "$lock" || {
        echo "The packages of $1 could not be installed; is there a network to a package index?" >&2
        exit 1
    }
    # So that `import analysis` works in every kernel of this environment.
    echo "$root" >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/analysis-suite.pth"
    echo "$wanted" >"$stamp"
}
