# kernpack_header_libraries: nlohmann's JSON and xxHash, which are headers alone. -idirafter, and not linking nlohmann's target: that
# brings the folder of this machine's headers, which also holds the C library's, before the headers of another compiler's target
# (zig.cmake). Debian's xxHash has no CMake package.
find_package(nlohmann_json 3 CONFIG QUIET)
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "JSON is read and written with nlohmann's library: apt-get install nlohmann-json3-dev")
endif()
find_path(KERNPACK_XXHASH_INCLUDE xxhash.h HINTS /usr/include)
mark_as_advanced(KERNPACK_XXHASH_INCLUDE)
if(NOT KERNPACK_XXHASH_INCLUDE)
  message(FATAL_ERROR "Names are looked up by their XXH3 hash: apt-get install libxxhash-dev")
endif()
get_target_property(folders nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
list(APPEND folders ${KERNPACK_XXHASH_INCLUDE})
list(REMOVE_DUPLICATES folders)
list(TRANSFORM folders REPLACE "(.+)" "SHELL:-idirafter \"\\1\"")
add_library(kernpack_header_libraries INTERFACE)
target_compile_options(kernpack_header_libraries INTERFACE ${folders})
