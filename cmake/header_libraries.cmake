# kernpack_header_libraries: nlohmann's JSON and xxHash, which are headers alone. -idirafter, and not the targets of their packages:
# those bring the folder of this machine's headers, which also holds the C library's, before the headers of another compiler's target
# (zig.cmake).
find_path(KERNPACK_NLOHMANN_INCLUDE nlohmann/json.hpp HINTS /usr/include)
find_path(KERNPACK_XXHASH_INCLUDE xxhash.h HINTS /usr/include)
mark_as_advanced(KERNPACK_NLOHMANN_INCLUDE KERNPACK_XXHASH_INCLUDE)
if(NOT KERNPACK_NLOHMANN_INCLUDE)
  message(FATAL_ERROR "JSON is read and written with nlohmann's library: apt-get install nlohmann-json3-dev")
endif()
if(NOT KERNPACK_XXHASH_INCLUDE)
  message(FATAL_ERROR "Names are looked up by their XXH3 hash: apt-get install libxxhash-dev")
endif()
add_library(kernpack_header_libraries INTERFACE)
target_compile_options(kernpack_header_libraries INTERFACE "SHELL:-idirafter ${KERNPACK_NLOHMANN_INCLUDE}"
                                                           "SHELL:-idirafter ${KERNPACK_XXHASH_INCLUDE}")
