# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder: where things are, phases with timings, what a fresh machine needs.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${KERNPACK_VENV:-$ROOT/.venv}
DIST=$ROOT/dist
LOGS=$ROOT/build/logs
PYTHON=$VENV/bin/python
PHASES=()
FAILED=()
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1
# Wheels of this repository come from dist/, in isolated builds too; pip warns where the folder does not exist yet.
# pip separates these by spaces: a URL has none.
mkdir -p "$DIST"
DIST_URL=$(python3 -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$DIST")
export PIP_FIND_LINKS="$DIST_URL${PIP_FIND_LINKS:+ $PIP_FIND_LINKS}"

# processor_time: in CPU, the seconds that this shell's ended children have computed on all cores. In $(...), `times` is of that shell.
processor_time() {
  local file=$LOGS/times.$BASHPID
  times >"$file"
  CPU=$(awk -F '[ms ]' 'NR == 2 { printf "%d", $1 * 60 + $2 + $4 * 60 + $5 }' "$file")
  rm "$file"
}

# attempt <name> <command>...: runs it, shows its output, keeps it in build/logs/<name>.log, and its exit status in STATUS. Not by
# `if`, in which bash takes `set -e` from the command's functions.
attempt() {
  local name=$1 start=$SECONDS before
  shift
  mkdir -p "$LOGS"
  processor_time
  before=$CPU
  printf '\n==== %s ====\n' "$name"
  set +e
  (set -e && "$@") 2>&1 | tee "$LOGS/$name.log"
  STATUS=$?
  set -e
  processor_time
  record "$name" $((SECONDS - start)) $((CPU - before))
}

# record <name> <seconds> <seconds of processor time> [<note>]: a line of the timings, with what STATUS says.
record() {
  local result=${4:-}
  [ "$STATUS" -eq 0 ] || result+=" FAILED (log: build/logs/$1.log)"
  PHASES+=("$(printf '%6d s %6d s of processor time  %s%s' "$2" "$3" "$1" "$result")")
  printf '==== %s%s: %d s ====\n' "$1" "$result" "$2"
}

# phase <name> <command>...: an attempt that later ones need; a failure ends the script.
phase() {
  attempt "$@"
  [ "$STATUS" -eq 0 ] || { phases && exit 1; }
}

# suite <name> <command>...: an attempt that no later one needs; a failure is remembered for `suites`.
suite() {
  attempt "$@"
  [ "$STATUS" -eq 0 ] || FAILED+=("$1")
}

# start <name>=<command>: a suite that runs beside the next ones. A command is a script of its own or a function. Its output is kept in
# build/logs/<name>.log until `finish <name>...` waits for what was started, and shows it.
start() {
  local name=${1%%=*}
  mkdir -p "$LOGS"
  {
    local start=$SECONDS
    set +e # see attempt
    # shellcheck disable=SC2086 # a command and its arguments
    (set -e && ${1#*=}) >"$LOGS/$name.log" 2>&1
    STATUS=$?
    processor_time
    echo "$STATUS $((SECONDS - start)) $CPU" >"$LOGS/$name.done"
  } &
}

finish() {
  local name seconds computed
  wait
  for name in "$@"; do
    read -r STATUS seconds computed <"$LOGS/$name.done"
    printf '\n==== %s ====\n' "$name"
    cat "$LOGS/$name.log"
    record "$name" "$seconds" "$computed" ' (side by side)'
    [ "$STATUS" -eq 0 ] || FAILED+=("$name")
  done
}

# together <name>=<command>...: suites side by side, for those that keep less than two cores busy. Their outputs follow one another.
together() {
  local one
  for one in "$@"; do start "$one"; done
  finish "${@%%=*}"
}

# need_passed <name>...: ends the script where one of these suites failed, without which later ones can't run.
need_passed() {
  local name
  for name in "$@"; do
    case " ${FAILED[*]} " in *" $name "*) suites || exit 1 ;; esac
  done
}

# suites: the timings, and whether every suite passed.
suites() {
  phases
  [ ${#FAILED[@]} -eq 0 ] || printf 'failed: %s\n' "${FAILED[*]}"
  [ ${#FAILED[@]} -eq 0 ]
}

# share <n>: every n-th line of the standard input, from another one each day: n days see them all.
share() { awk -v n="$1" -v day="$(($(date +%s) / 86400))" '(NR + day) % n == 0'; }

phases() {
  printf '\n'
  [ ${#PHASES[@]} -eq 0 ] || printf '%s\n' "${PHASES[@]}"
  printf '%6d s  in all\n' "$SECONDS"
}

# need_debian <package>...: installs what is missing when run as root; otherwise says how to.
need_debian() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    printf 'Missing Debian packages. Install them, then run this again:\n  sudo apt-get install -y %s\n' "${missing[*]}" >&2
    return 1
  fi
  printf 'Installing Debian packages: %s\n' "${missing[*]}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# compile_python <python> <folder>...: where PYTHONDONTWRITEBYTECODE keeps Python from writing what it compiles, every process would
# compile its imports again, and `import torch` take twice as long. So they are compiled here, once. Packages ship files that aren't
# Python, templates for example: those aren't errors.
compile_python() {
  local python=$1
  shift
  [ -z "${PYTHONDONTWRITEBYTECODE:-}" ] || "$python" -m compileall -qq -j 0 "$@" || true
}

# find_nvcc: where the machine has no CUDA toolkit, PyPI's nvcc comes onto PATH.
find_nvcc() {
  local nvcc=("$VENV"/lib/python3*/site-packages/nvidia/cu13/bin)
  command -v nvcc >/dev/null || export PATH=$PATH:${nvcc[0]}
}

# find_zig: the path of PyPI's zig, which compiles for Windows.
find_zig() { "$PYTHON" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")'; }

# need_venv <folder> <requirements file> [<pip option>...]: a virtual environment with exactly these requirements installed;
# nothing to do when an earlier call did it.
need_venv() {
  local venv=$1 requirements=$2 stamp
  shift 2
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  stamp=$venv/installed-$(basename "$requirements")
  if ! cat "$ROOT"/requirements/*.txt | cmp -s - "$stamp"; then
    # Python compiles what is imported; pip would compile everything, in one process.
    "$venv/bin/python" -m pip install --no-compile --progress-bar on "$@" -r "$requirements"
    compile_python "$venv/bin/python" "$venv"/lib/python3*/site-packages
    cat "$ROOT"/requirements/*.txt >"$stamp"
  fi
}

# The pages of the manual that people write, and how they are wrapped; docs/evolution.md, docs/mistakes.md and docs/ops-matrix.md are written by tests.
markdown_files() { git ls-files '*.md' ':!docs/evolution.md' ':!docs/ops-matrix.md' ':!docs/mistakes.md' ':!examples' ':!sdk' ':!bindings' ':!kernels' ':!tests'; }
MARKDOWN_STYLE=(--wrap 100 --number --compact-tables)
