# find_package(kernpack): the targets kernpack::headers and, where the host library is installed beside them,
# kernpack::kernpack; the functions kernpack_add_module() and kernpack_embed().
get_filename_component(KERNPACK_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
if(NOT EXISTS "${KERNPACK_INCLUDE_DIR}/kernpack/abi.h") # in a checkout of the repository
  get_filename_component(KERNPACK_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../ffi/include" ABSOLUTE)
endif()
# Where there is no kernpackConfigVersion.cmake (a checkout has none) the headers say which version they are.
if(NOT kernpack_VERSION)
  file(STRINGS "${KERNPACK_INCLUDE_DIR}/kernpack/module.h" kernpack_VERSION REGEX "^#define KP_SDK_VERSION ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" kernpack_VERSION "${kernpack_VERSION}")
endif()
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/kernpackTargets.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/kernpackTargets.cmake")
  if("sdk" IN_LIST kernpack_FIND_COMPONENTS)
    include("${CMAKE_CURRENT_LIST_DIR}/kernpackLlvm.cmake" OPTIONAL) # whose libraries kernpack::sdk links, where it has the kind llvm
  endif()
elseif(NOT TARGET kernpack::headers)
  add_library(kernpack::headers INTERFACE IMPORTED)
  set_target_properties(kernpack::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${KERNPACK_INCLUDE_DIR}")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_host_library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_flags.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_device_code.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_cuda.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_add_module.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_embed.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernpack_add_device_conformance.cmake")
# A component is a target: kernpack::headers, kernpack::kernpack, kernpack::sdk.
set(missing)
foreach(component IN LISTS kernpack_FIND_COMPONENTS)
  set(kernpack_${component}_FOUND FALSE)
  if(TARGET kernpack::${component})
    set(kernpack_${component}_FOUND TRUE)
  elseif(component STREQUAL "kernpack")
    set(missing "${KERNPACK_HOST_LIBRARY_HINT}")
  else()
    set(missing "there is no component '${component}' in ${CMAKE_CURRENT_LIST_DIR}. Components are headers, \
kernpack (the host library) and, where Kernpack was installed with `cmake --install`, sdk")
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  kernpack REQUIRED_VARS KERNPACK_INCLUDE_DIR VERSION_VAR kernpack_VERSION HANDLE_COMPONENTS REASON_FAILURE_MESSAGE "${missing}")
unset(missing)
