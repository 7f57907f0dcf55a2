#!/usr/bin/env bash
# Runs the kernels of kernpack-kernels-cuda on an NVIDIA GPU: their own cases, by contract, by torch, JAX and CuPy, under
# compute-sanitizer where there is one; then times them beside torch's. tests/device/run.sh calls it.
#
#   tests/device/pack.sh [timing|cases]   all, or one part
#
# Environment: KERNPACK_DEVICE_SITE=FOLDER  the packages kernpack, kernpack_sdk and kernpack_kernels with both shared objects, as pip
#                                           installs them; default build/device/python, where kernpack_kernels is built
#              KERNPACK_DEVICE_RESULTS=FOLDER  where the figures go; default build/device
#              PYTHON=python3               the one with torch, JAX and CuPy
# Exit: 0 all that ran passed; 1 something failed; 2 the command line.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${KERNPACK_DEVICE_BUILD:-$root/build/device}
site=${KERNPACK_DEVICE_SITE:-$build/python}
results=${KERNPACK_DEVICE_RESULTS:-$build}
python=${PYTHON:-python3}
part=${1:-all}
case $part in
  all | timing | cases) ;;
  *)
    sed -n '2,12p' "$0"
    exit 2
    ;;
esac
failed=()
begun=()

try() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n==== %s ====\n' "$name"
  "$@" || failed+=("$name (exit $?)")
  echo "==== $name: $((SECONDS - begin)) s ===="
}

# sanitized <tool> <file of cases> <group>...: begins it; finish waits for all that have begun, and shows what went wrong.
sanitized() {
  local name="$1 of $2"
  timeout 500 compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 \
    "$python" "$cases/$2" "$files" "${@:3}" >"$results/$1-$2.log" 2>&1 &
  begun+=("$!:$results/$1-$2.log:$name")
}
finish() {
  local one process log name
  for one in "${begun[@]}"; do
    IFS=: read -r process log name <<<"$one"
    if wait "$process"; then echo "$name: no error"; else
      failed+=("$name")
      echo "$name:"
      tail -40 "$log"
    fi
  done
  begun=()
}

build_kernels() {
  local arch cmake=(-DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$(command -v "$python")")
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. \n')
  cmake+=(-Dkernpack_DIR="$("$python" -c 'import kernpack_sdk; print(kernpack_sdk.cmake_dir())')")
  cmake -S "$root/kernels" -B "$build/kernels" "${cmake[@]}"
  cmake -S "$root/kernels/cuda" -B "$build/pack" "${cmake[@]}" "-DKERNPACK_CUDA_CODE=arch=compute_80,code=compute_80;arch=compute_$arch,code=sm_$arch"
  for of in kernels pack; do
    cmake --build "$build/$of" -j "$(nproc)"
    cmake --install "$build/$of" --prefix "$site"
  done
}

export PYTHONPATH=$site:$root/sdk/author/python:$root/tests:$root/tests/python/kernels${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1
[ -e "$site/kernpack_kernels/kernpack_kernels_cuda.so" ] || build_kernels
files=$site/kernpack_kernels/kernpack_kernels.so:$site/kernpack_kernels/kernpack_kernels_cuda.so
cases=$root/tests/python/cuda_pack

if [ "$part" != timing ]; then
  export KERNPACK_CUDA_PACK=$files
  try "cases of the pack" "$python" -m pytest -q -n 6 -p no:cacheprovider "$cases" --ignore "$cases/test_cuda_registers.py"
  try "the pack by torch, JAX and CuPy" "$python" "$root/tests/device/cuda/pack/frameworks.py" "$files"
  if command -v compute-sanitizer >/dev/null; then
    # Each at the same time: the tools leave most of the GPU idle.
    for tool in memcheck racecheck initcheck synccheck; do
      sanitized "$tool" gradient_cases.py norms:bf16 softmax:bf16 embedding:bf16
      sanitized "$tool" attention_cases.py lengths:bf16 paged:bf16
      sanitized "$tool" attention_gradient_cases.py lengths:bf16
      sanitized "$tool" sampling_cases.py argmax:bf16 topk:bf16 penalty:bf16
      sanitized "$tool" optimizer_cases.py adamw:bf16 clip:bf16 unaligned
      sanitized "$tool" packed_cases.py products:bf16
    done
    finish
  else
    echo "compute-sanitizer: skipped, there is none"
  fi
fi
if [ "$part" != cases ]; then
  try "times beside torch" "$python" "$root/tests/bench/cuda_pack.py" "$files" "$results/cuda_pack.json"
fi
if [ ${#failed[@]} -ne 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
