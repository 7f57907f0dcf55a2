# shellcheck shell=bash
# Shared by the scripts that try the wheels on other Pythons: their interpreters, fresh environments with the wheels of dist/, and the
# tests that need NumPy alone. lib.sh comes first.

# interpreter <version>: on the PATH, or of pyenv; of newer versions than those, Debian's. Prints it, or nothing.
interpreter() {
  local candidate
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    # pyenv's own commands are on the PATH for versions that aren't activated.
    if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  case $1 in 3.1[4-9]) "$ROOT/scripts/debian-python" "$1" || true ;; esac
}

# fresh_environment <folder> <interpreter> <pip argument>...: a fresh one with these packages, and our wheels that fit this Python.
fresh_environment() {
  local folder=$1 python=$2
  shift 2
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --no-compile --progress-bar on "$@"
  [ -n "${KERNPACK_NEWEST_DEV:-}" ] ||
    "$folder/bin/python" -m pip install --no-index --no-deps "$DIST"/kernpack-[0-9]*.whl "$DIST"/kernpack_{sdk,kernels,cuda_emulator}-*.whl
}

# numpy_tests <python> <pytest option>...: those tests of calls and errors that import neither torch nor JAX, without the cases for them.
# What reads the sources' messages needs tree-sitter-cpp, which hasn't a wheel for each Python.
numpy_tests() {
  local files python=$1
  shift
  mapfile -t files < <(grep -LE '^ *(import|from) (torch|jax|tvm_ffi|kernpack_compiler)\b|import messages$' tests/python/core/test_*.py tests/error/test_*.py)
  "$python" -X faulthandler -m pytest -q -rs -p no:cacheprovider -k 'not torch and not jax' "$@" "${files[@]}"
}
