# kernpack_import_kernel(<target>
#   FILES <file>...        PTX, a cubin or a fatbin; several are for one architecture each, and sm_90a=<file> says for which
#   CONTRACT <text>        "(x: f32[N], k: float = 2.0) -> (y: f32[N])"
#   GRID <extents>         blocks, expressions of the contract's dims and scalars: "ceildiv(N, 128)"
#   ENTRY <name>           the kernel in the code
#   [NAME <name>]          of the function; default: ENTRY
#   [BLOCK <extents>] [CLUSTER <extents>] [SHARED <bytes>] [ARGS <list>] [GRAD <function>]   as of `kernpack import`
#   [COOPERATIVE]          all blocks run at the same time
#   [MODULE <name>]        the name in KP_MODULE(...); default: the target's file without .so
# )
#
# Adds a kernel that another compiler made to the module of <target>, which kernpack_add_module() made before: a shared object beside its
# own, which is installed with it, and loaded with it as one module. Needs Python with kernpack-sdk and kernpack-compiler, no CUDA.
function(kernpack_import_kernel target)
  set(one CONTRACT GRID ENTRY NAME BLOCK CLUSTER SHARED ARGS GRAD MODULE)
  cmake_parse_arguments(PARSE_ARGV 1 KP "COOPERATIVE" "${one}" "FILES")
  set(who "kernpack_import_kernel(${target})")
  if(KP_UNPARSED_ARGUMENTS)
    list(JOIN KP_UNPARSED_ARGUMENTS " " unknown)
    list(JOIN one ", " known)
    message(FATAL_ERROR "${who}: unknown argument '${unknown}'; the arguments are FILES, ${known}, COOPERATIVE")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${who}: there is no target ${target}; call kernpack_add_module(${target} ...) before")
  endif()
  foreach(argument IN ITEMS FILES ENTRY CONTRACT GRID)
    if("${KP_${argument}}" STREQUAL "")
      message(FATAL_ERROR "${who}: ${argument} is empty; FILES, ENTRY, CONTRACT and GRID are needed")
    endif()
  endforeach()
  if(NOT KP_NAME)
    set(KP_NAME ${KP_ENTRY})
  endif()
  if(NOT KP_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${who}: '${KP_NAME}' can't be a function's name; pass NAME")
  endif()
  get_target_property(file ${target} OUTPUT_NAME)
  if(NOT KP_MODULE)
    set(KP_MODULE ${file})
  endif()
  find_program(KERNPACK_PYTHON NAMES python3 python HINTS "${Python_EXECUTABLE}" NO_CMAKE_SYSTEM_PATH)
  mark_as_advanced(KERNPACK_PYTHON)
  if(NOT KERNPACK_PYTHON)
    message(FATAL_ERROR "${who}: no Python was found; set KERNPACK_PYTHON to one with kernpack-sdk and kernpack-compiler")
  endif()

  set(files "")
  set(inputs "")
  foreach(given IN LISTS KP_FILES)
    string(REGEX MATCH "^(sm|compute)_[0-9]+[af]?=" architecture "${given}")
    string(LENGTH "${architecture}" length)
    string(SUBSTRING "${given}" ${length} -1 path)
    get_filename_component(path "${path}" ABSOLUTE)
    list(APPEND inputs "${path}")
    list(APPEND files "${architecture}${path}")
  endforeach()
  set(options "")
  foreach(argument IN LISTS one)
    if(NOT "${KP_${argument}}" STREQUAL "")
      string(TOLOWER ${argument} option)
      list(APPEND options "--${option}=${KP_${argument}}")
    endif()
  endforeach()
  if(KP_COOPERATIVE)
    list(APPEND options --cooperative)
  endif()
  if(CMAKE_CROSSCOMPILING)
    list(APPEND options "--host=llvm -mtriple=${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
  endif()

  set(output ${CMAKE_CURRENT_BINARY_DIR}/${file}_${KP_NAME}.so)
  add_custom_command(
    OUTPUT ${output}
    COMMAND "${KERNPACK_PYTHON}" -m kernpack_sdk import ${files} ${options} --out ${output}
    DEPENDS ${inputs}
    COMMENT "Importing ${KP_NAME}"
    VERBATIM)
  add_custom_target(${target}_${KP_NAME} ALL DEPENDS ${output})
  get_target_property(destination ${target} KERNPACK_DESTINATION)
  if(destination)
    install(PROGRAMS ${output} DESTINATION ${destination})
  endif()
endfunction()
