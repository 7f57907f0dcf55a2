# The compiler of the runtime wheel: PyPI's ziglang, which links against glibc 2.28 and a static libc++ on any build machine.
# So the wheel's manylinux tag does not depend on where it was built.
include(${CMAKE_CURRENT_LIST_DIR}/zig_programs.cmake)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KERNPACK_ZIG_DIR)
set(CMAKE_C_COMPILER ${KERNPACK_ZIG_DIR}/cc)
set(CMAKE_CXX_COMPILER ${KERNPACK_ZIG_DIR}/c++)
# zig has a cache of its own.
set(CMAKE_C_COMPILER_LAUNCHER "")
set(CMAKE_CXX_COMPILER_LAUNCHER "")
