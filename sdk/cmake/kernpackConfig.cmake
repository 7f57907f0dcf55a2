# find_package(kernpack): the targets kernpack::headers and, where the host library is installed beside them,
# kernpack::kernpack; the functions kernpack_add_module() and kernpack_embed().
get_filename_component(KERNPACK_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
if(NOT EXISTS "${KERNPACK_INCLUDE_DIR}/kernpack/abi.h") # in a checkout of the repository
  get_filename_component(KERNPACK_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../ffi/include" ABSOLUTE)
endif()
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/kernpackTargets.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/kernpackTargets.cmake")
elseif(NOT TARGET kernpack::headers)
  add_library(kernpack::headers INTERFACE IMPORTED)
  set_target_properties(kernpack::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${KERNPACK_INCLUDE_DIR}")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_host_library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_flags.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_device_code.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_add_module.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_embed.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_add_device_conformance.cmake")
set(kernpack_FOUND TRUE)
