# The compiler of the runtime wheel: PyPI's ziglang, which links against glibc 2.28 and a static libc++ on any build machine.
# So the wheel's manylinux tag does not depend on where it was built.
# KERNPACK_SYSTEM_PROCESSOR=aarch64 compiles for that machine, with the Debian packages that scripts/sysroot put into
# KERNPACK_SYSROOT.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KERNPACK_SYSTEM_PROCESSOR KERNPACK_SYSROOT KERNPACK_ZIG_DIR)
if(KERNPACK_SYSTEM_PROCESSOR AND NOT KERNPACK_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${KERNPACK_SYSTEM_PROCESSOR})
  set(CMAKE_OBJCOPY /usr/bin/${KERNPACK_SYSTEM_PROCESSOR}-linux-gnu-objcopy)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/zig_programs.cmake)
set(CMAKE_C_COMPILER ${KERNPACK_ZIG_DIR}/cc)
set(CMAKE_CXX_COMPILER ${KERNPACK_ZIG_DIR}/c++)
# zig writes debug information unless told not to, which takes a third of the time; wheels are stripped.
set(CMAKE_C_FLAGS_RELEASE_INIT -g0)
set(CMAKE_CXX_FLAGS_RELEASE_INIT -g0)
# zig has a cache of its own.
set(CMAKE_C_COMPILER_LAUNCHER "")
set(CMAKE_CXX_COMPILER_LAUNCHER "")
