# KERNPACK_RELEASE: the version of everything here. It is written down once, as KP_SDK_VERSION in kernpack/module.h, which modules
# are compiled with; the packages' pyproject.toml and kernpack_sdk read that line too.
get_filename_component(KERNPACK_VERSION_HEADER ${CMAKE_CURRENT_LIST_DIR}/../ffi/include/kernpack/module.h ABSOLUTE)
file(STRINGS ${KERNPACK_VERSION_HEADER} KERNPACK_RELEASE REGEX "^#define KP_SDK_VERSION ")
if(NOT KERNPACK_RELEASE MATCHES "\"([0-9.]+)\"$")
  message(FATAL_ERROR "${KERNPACK_VERSION_HEADER}: expected a line: #define KP_SDK_VERSION \"1.2.3\"")
endif()
set(KERNPACK_RELEASE ${CMAKE_MATCH_1})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNPACK_VERSION_HEADER})
# KERNPACK_ABI_MAJOR: of the ABI, from kernpack/abi.h.
get_filename_component(KERNPACK_ABI_HEADER ${CMAKE_CURRENT_LIST_DIR}/../ffi/include/kernpack/abi.h ABSOLUTE)
file(STRINGS ${KERNPACK_ABI_HEADER} KERNPACK_ABI_MAJOR REGEX "^#define KP_ABI_MAJOR ")
if(NOT KERNPACK_ABI_MAJOR MATCHES " ([0-9]+)$")
  message(FATAL_ERROR "${KERNPACK_ABI_HEADER}: expected a line: #define KP_ABI_MAJOR 1")
endif()
set(KERNPACK_ABI_MAJOR ${CMAKE_MATCH_1})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNPACK_ABI_HEADER})
