# kernpack_embed(<target> NAME <identifier> SOURCES <file>... [INCLUDE_DIRECTORIES <dir>...] [DEFINITIONS <x=y>...]
#                [DEVICE_CODE <file>...] [CUDA_JIT <file>...] [COMPILE_OPTIONS <option>...] [LIBRARIES <library>...])
#
# Compiles a kernel module into <target>, a program or library of yours, instead of into a shared object. Its table is returned by
# kp_module_v1_<identifier>(), for kp_module_adopt(); several modules with different identifiers may live in one program.
function(kernpack_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 KP "" "NAME" "SOURCES;DEVICE_CODE;CUDA_JIT;INCLUDE_DIRECTORIES;DEFINITIONS;COMPILE_OPTIONS;LIBRARIES")
  if(KP_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernpack_embed(${target}): unknown argument '${KP_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT KP_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "kernpack_embed(${target}): NAME: expected a C identifier, got '${KP_NAME}'")
  endif()
  if(NOT KP_SOURCES)
    message(FATAL_ERROR "kernpack_embed(${target}): SOURCES is empty; list the file that holds KP_MODULE(...)")
  endif()
  set(objects ${target}_${KP_NAME})
  add_library(${objects} OBJECT ${KP_SOURCES})
  kernpack_module_settings_(${objects})
  kernpack_device_code_(${objects} ${KP_DEVICE_CODE})
  kernpack_cuda_jit_(${objects} ${KP_CUDA_JIT})
  target_compile_definitions(${objects} PRIVATE KP_STATIC_NAME=${KP_NAME})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
endfunction()
