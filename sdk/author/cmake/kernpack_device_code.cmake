# kernpack_device_code_(<target> <file>...): for each file a header of its name with .h behind it ("rows.cl.h"), which the
# target's sources may include. It holds the bytes of the file as a constant named after it:
#
#   namespace device_code { inline constexpr char rows_cl[] = {...}; }   sizeof is the file's size
#
# This file is also the script that writes one: cmake -DINPUT=<file> -DOUTPUT=<header> -P.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  get_filename_component(name ${INPUT} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  file(READ ${INPUT} bytes HEX)
  if(bytes STREQUAL "")
    message(FATAL_ERROR "DEVICE_CODE: ${INPUT} is empty")
  endif()
  # A fat binary of CUDA gets a section of its own, from which `kernpack slim` and `kernpack split` can cut whole pages. nvcc's tools call
  # theirs .nv_fatbin, and align its content to 8 bytes.
  set(section "")
  if(bytes MATCHES "^50ed55ba")
    set(section "#ifdef __ELF__\n__attribute__((section(\".nv_fatbin.kernpack\"), aligned(8)))\n#endif\n")
  endif()
  # Signed, because char is: a byte from 0x80 up would be a narrowing conversion.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  file(WRITE ${OUTPUT} "// Made from ${name}.\n#pragma once\nnamespace device_code {\n${section}"
                       "inline constexpr char ${id}[] = {${bytes}};\n}  // namespace device_code\n")
  return()
endif()

function(kernpack_device_code_ target)
  if(NOT ARGN)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_device_code)
  set(script ${KERNPACK_CMAKE_DIR}/kernpack_device_code.cmake)
  foreach(file IN LISTS ARGN)
    get_filename_component(input ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    set(header ${folder}/${name}.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${header} -P ${script}
      DEPENDS ${input} ${script}
      COMMENT "Embedding ${name}"
      VERBATIM)
    target_sources(${target} PRIVATE ${header})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
