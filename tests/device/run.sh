#!/usr/bin/env bash
# Runs the device tests on a machine with an NVIDIA GPU, from the working tree, with no network.
#
#   tests/device/run.sh [backend|code|emulator|frameworks|pack]
#                                       builds, and runs everything or that part, under compute-sanitizer too where there is one
#   tests/device/run.sh collect FOLDER  on a machine with Debian's packages: copies the headers that the build needs, and
#                                       GoogleTest's sources, into FOLDER, to be carried to a machine that lacks them
#
# Environment: KERNPACK_DEVICE_DEPS=FOLDER   what collect made; default tests/device/deps
#              KERNPACK_DEVICE_BUILD=FOLDER  where to build; default build/device
#              KERNPACK_DEVICE_BUILT=yes     that folder holds all that is needed: nothing is built
#              PYTHON=python3                the one with torch, JAX and CuPy
# Exit: 0 all that ran passed (what was skipped is listed, with its reason); 1 something failed; 77 there is no NVIDIA GPU, and
# nothing was run; 2 the command line.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=${KERNPACK_DEVICE_DEPS:-$root/tests/device/deps}
build=${KERNPACK_DEVICE_BUILD:-$root/build/device}
python=${PYTHON:-python3}
failed=()
skipped=()

say() { printf '\n==== %s ====\n' "$*"; }

# try <name> <command>...: runs it and goes on; the end tells.
try() {
  local name=$1
  shift
  say "$name"
  "$@" || failed+=("$name (exit $?)")
}

skip() {
  say "$1: skipped"
  echo "$2"
  skipped+=("$1: $2")
}

collect() {
  local to=$1
  mkdir -p "$to/include" "$to/lib"
  cp -r /usr/include/nlohmann /usr/include/xxhash.h /usr/include/openssl "$to/include/"
  cp /usr/include/"$(uname -m)"-linux-gnu/openssl/*.h "$to/include/openssl/"
  cp /usr/lib/"$(uname -m)"-linux-gnu/libcrypto.a "$to/lib/"
  [ ! -d /usr/include/CL ] || cp -r /usr/include/CL "$to/include/"
  cp -r /usr/src/googletest "$to/googletest"
  du -sh "$to"
}

need_gpu() {
  local listed
  if command -v nvidia-smi >/dev/null && listed=$(nvidia-smi -L 2>&1) && [[ $listed == GPU* ]]; then
    echo "$listed"
    return
  fi
  echo "tests/device/run.sh: there is no NVIDIA GPU here (${listed:-nvidia-smi is not installed}); nothing was run."
  exit 77
}

# GoogleTest as the system has it, else built from what was collected.
prepare() {
  [ ! -d "$deps/include" ] || export CPATH=$deps/include${CPATH:+:$CPATH} CMAKE_PREFIX_PATH=$deps
  if [ -d "$deps/googletest" ]; then
    cmake -S "$deps/googletest" -B "$build/googletest" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$build/prefix" \
      -DCMAKE_INSTALL_LIBDIR=lib
    cmake --build "$build/googletest" -j "$(nproc)" --target install
  fi
}

configure() {
  local options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_PREFIX_PATH="$build/prefix" -DOPENCL_INCLUDE_DIR="$deps/include")
  [ -d "$deps/include/CL" ] || unset 'options[2]'
  if [ "$with_python" = yes ]; then
    options+=(-DKERNPACK_BUILD_PYTHON=ON -DPython_EXECUTABLE="$(command -v "$python")")
  fi
  cmake -S "$root" -B "$build" "${options[@]}"
  cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"
}

# kernels.cu for this machine's device, in each form that the backend loads.
architecture() { nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. \n'; }

compile_kernels() {
  local source=$root/tests/device/cuda/gpu/kernels.cu arch
  arch=$(architecture)
  mkdir -p "$build/images"
  nvcc -arch="sm_$arch" -cubin -o "$build/images/kernels.cubin" "$source"
  nvcc -arch="compute_$arch" -ptx -o "$build/images/kernels.ptx" "$source"
  nvcc -gencode "arch=compute_$arch,code=[sm_$arch,compute_$arch]" -fatbin -o "$build/images/kernels.fatbin" "$source"
}

conformance() { "$@" "$build/tests/device/kernpack_device_conformance" "--backend=$backend" --require; }

kernels() { "$@" "$build/tests/device/cuda/kernpack_cuda_gpu_tests"; }
# Without the test whose kernel is meant to write outside its memory.
kernels_checked() { "$@" "$build/tests/device/cuda/kernpack_cuda_gpu_tests" --gtest_filter='-*Sticky*'; }

# Needs NVRTC: KERNPACK_NVRTC, else that of a wheel where Python has one, as in kernpack-compiler; else that of the toolkit.
generated() {
  local finder=$root/bindings/compiler/kernpack_compiler/_nvrtc.py found
  found=${KERNPACK_NVRTC:-$("$python" -c 'import runpy, sys; print(runpy.run_path(sys.argv[1])["find"]())' "$finder" || true)}
  [ -z "$found" ] || export KERNPACK_NVRTC=$found
  echo "NVRTC: ${found:-of the toolkit}"
  # For this device only, and shared out: each function is compiled, its host half too.
  local shard shards wrong=0 running=()
  shards=$((($(nproc) + 1) / 2))
  for ((shard = 0; shard < shards; ++shard)); do
    KERNPACK_TEST_KIND=cuda KERNPACK_TEST_TARGET="cuda -arch=sm_$(architecture)" KERNPACK_CFLAGS=-O0 GTEST_TOTAL_SHARDS=$shards \
      GTEST_SHARD_INDEX=$shard "$build/tests/device/codegen/kernpack_device_codegen_tests" --gtest_brief=1 &
    running+=($!)
  done
  for shard in "${running[@]}"; do wait "$shard" || wrong=1; done
  return "$wrong"
}

# Runs the tests of the emulated device's PTX on a GPU: the emulated device is as good as these tests.
instructions() {
  KERNPACK_TEST_CUDA_DRIVER=libcuda.so.1 "$python" -m pytest -q -n 4 -p no:cacheprovider -rs "$root/tests/python/ptx"
}
kernels_of_the_emulator() {
  KERNPACK_TEST_CUDA_DRIVER=libcuda.so.1 "$build/tests/device/emulator/kernpack_emulator_tests" --gtest_brief=1 \
    "--gtest_filter=$(<"$root/tests/device/emulator/right_kernels.txt")"
}
kernels_by_nvcc() {
  local scripts=$root/tests/python/emulator arch wrong=0
  local -x PYTHONPATH=$build/python:$root/sdk/author/python:$root/tests
  "$python" "$scripts/call_clusters.py" right || wrong=1
  for arch in 80 90; do "$python" "$scripts/call_barriers.py" "$arch" || wrong=1; done
  "$python" "$scripts/call_cub.py" || wrong=1
  return "$wrong"
}

tensors() {
  PYTHONPATH=$build/python:$root/sdk/author/python "$python" "$root/tests/device/cuda/gpu/tensors.py"
}

part=${1:-all}
wants() { [ "$part" = all ] || [ "$part" = "$1" ]; }

case $part in
  all | backend | code | emulator | frameworks | pack) ;;
  collect)
    [ $# -eq 2 ] || { sed -n '2,9p' "$0"; exit 2; }
    collect "$2"
    exit
    ;;
  *)
    sed -n '2,16p' "$0"
    exit 2
    ;;
esac

say "the machine"
need_gpu
with_python=no
targets=(kernpack_cuda kernpack_device_conformance kernpack_cuda_tests kernpack_cuda_gpu_tests kernpack_device_codegen_tests
  kernpack_emulator_tests)
if "$python" -c 'import pathlib, sysconfig; assert (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists()' 2>/dev/null; then
  with_python=yes
  targets+=(python_dev)
fi
if [ "${KERNPACK_DEVICE_BUILT:-no}" != yes ]; then
  say "building in $build"
  prepare
  configure
fi

export KERNPACK_BACKENDS=$build/ffi/backends/cuda/libkernpack_cuda.so
if wants backend; then
  for backend in cuda cuda_host cuda_managed; do
    try "conformance of $backend" conformance
  done
  try "the backend on the fake driver" "$build/tests/device/cuda/kernpack_cuda_tests" --gtest_brief=1
  if command -v nvcc >/dev/null; then
    compile_kernels
    export KERNPACK_CUDA_IMAGES=$build/images
    try "kernels from cubin, fatbin and PTX" kernels
  else
    skip "kernels from cubin, fatbin and PTX" "there is no nvcc"
  fi

  if command -v compute-sanitizer >/dev/null; then
    # Errors that calls return are part of the tests; what the tool finds in memory is not.
    check=(compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9)
    for backend in cuda cuda_host cuda_managed; do
      try "conformance of $backend under compute-sanitizer" conformance "${check[@]}"
    done
    [ -z "${KERNPACK_CUDA_IMAGES:-}" ] || try "kernels under compute-sanitizer" kernels_checked "${check[@]}"
  else
    skip "compute-sanitizer" "there is none"
  fi
fi

if wants code; then
  try "generated code" generated
fi

if wants emulator; then
  try "kernels of the emulated device's tests" kernels_of_the_emulator
  try "instructions, against the manual" instructions
fi

if [ "$with_python" = no ]; then
  skip "what needs Kernpack's Python package" "$python has no Python.h to build the extension with"
else
  if wants frameworks; then
    try "tensors of torch, CuPy and JAX" tensors
    if command -v nvcc >/dev/null; then
      try "clusters, barriers and CUB, by nvcc" kernels_by_nvcc
    else
      skip "clusters, barriers and CUB" "there is no nvcc"
    fi
  fi
  ! wants pack || try "the CUDA pack" env KERNPACK_DEVICE_BUILD="$build" PYTHON="$python" "$root/tests/device/pack.sh"
fi

say "summary"
[ ${#skipped[@]} -eq 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
if [ ${#failed[@]} -ne 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "all that ran passed"
