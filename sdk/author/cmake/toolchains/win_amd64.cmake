# Kernel modules for Windows on x86-64, by zig, PyPI's ziglang, which has all that it needs for it: kernpack build --platform win_amd64.
# KERNPACK_ZIG is the program.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KERNPACK_ZIG)
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
if(NOT KERNPACK_ZIG)
  message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: KERNPACK_ZIG is missing, the path of zig: pip install ziglang, then "
                      "-DKERNPACK_ZIG=$(python -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / \"zig\")')")
endif()
set(CMAKE_C_COMPILER "${KERNPACK_ZIG}" cc -target x86_64-windows-gnu)
set(CMAKE_CXX_COMPILER "${KERNPACK_ZIG}" c++ -target x86_64-windows-gnu)
# No module has resources, but CMake asks for a compiler of them.
set(CMAKE_RC_COMPILER "${KERNPACK_ZIG}")
# The archiver of the machine that builds may not know the format.
set(CMAKE_AR "${KERNPACK_ZIG}")
set(CMAKE_RANLIB "${KERNPACK_ZIG}")
set(CMAKE_USER_MAKE_RULES_OVERRIDE "${CMAKE_CURRENT_LIST_DIR}/zig_archiver.cmake")
foreach(language IN ITEMS C CXX)
  # zig writes debug information into a file beside the module unless told not to.
  set(CMAKE_${language}_FLAGS_RELEASE_INIT -g0)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
