# kernpack::kernpack where this CMake package came from a wheel: the host library is in the wheel kernpack, in the same
# site-packages (or, where pip tells apart lib and lib64, in the other). KERNPACK_HOST_LIBRARY_HINT is what to say where it is
# missing. A library of another major of the ABI than these headers is left out, and named.
set(KERNPACK_HOST_LIBRARY_HINT
    "the host library (libkernpack.so) is missing: install the wheel kernpack beside kernpack-sdk (pip install kernpack), or set CMAKE_PREFIX_PATH to where Kernpack is installed"
)
if(NOT TARGET kernpack::kernpack)
  get_filename_component(site "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE) # of kernpack_sdk/lib/cmake/kernpack
  string(REGEX REPLACE "/lib/(python[^/]*/site-packages)$" "/lib64/\\1" site64 "${site}")
  find_file(KERNPACK_HOST_LIBRARY libkernpack.so PATHS "${site}/kernpack" "${site64}/kernpack" NO_DEFAULT_PATH)
  mark_as_advanced(KERNPACK_HOST_LIBRARY)
  if(KERNPACK_HOST_LIBRARY)
    file(STRINGS "${KERNPACK_HOST_LIBRARY}" found REGEX "kernpack\\.abi:[0-9]+\\.[0-9]+ " LIMIT_COUNT 1)
    string(REGEX REPLACE ".*kernpack\\.abi:(([0-9]+)\\.[0-9]+) .*" "\\1;\\2" found "${found}")
    list(POP_FRONT found abi major)
    file(STRINGS "${KERNPACK_INCLUDE_DIR}/kernpack/abi.h" own REGEX "^#define KP_ABI_MAJOR ")
    string(REGEX REPLACE ".* " "" own "${own}")
    if(major EQUAL own)
      add_library(kernpack::kernpack SHARED IMPORTED)
      set_target_properties(
        kernpack::kernpack PROPERTIES IMPORTED_LOCATION "${KERNPACK_HOST_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                   "${KERNPACK_INCLUDE_DIR}")
    else()
      set(KERNPACK_HOST_LIBRARY_HINT
          "${KERNPACK_HOST_LIBRARY} is of ABI ${abi}, this kernpack-sdk is of ${own}.x: pip install -U kernpack kernpack-sdk")
      message(NOTICE "kernpack::kernpack is left out: ${KERNPACK_HOST_LIBRARY_HINT}")
    endif()
    unset(found)
    unset(abi)
    unset(own)
  endif()
endif()
