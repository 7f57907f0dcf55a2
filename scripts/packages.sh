# shellcheck shell=bash
# shellcheck disable=SC2034  # read by the scripts that source this file
# Debian packages: to build the wheels, and what measuring, the site and testing add.
BUILD_PACKAGES=(g++ g++-aarch64-linux-gnu cmake ninja-build python3-dev python3-venv opencl-c-headers nlohmann-json3-dev libssl-dev libxxhash-dev)
BENCH_PACKAGES=(ccache libbenchmark-dev ocl-icd-libopencl1 pocl-opencl-icd)
# To build the site and to look at it; a browser without fonts shows nothing.
SITE_PACKAGES=(chromium-headless-shell doxygen fonts-liberation)
TEST_PACKAGES=("${BENCH_PACKAGES[@]}" "${SITE_PACKAGES[@]}" abigail-tools gdb libdlpack-dev libfftw3-dev libgtest-dev clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev
  linux-perf lld mold qemu-user shellcheck valgrind wine)
# For aarch64: the wheels for it are linked with the first, and tried with the others.
SYSROOT_PACKAGES=(libssl-dev python3 libpython3.11-dev libstdc++6)
