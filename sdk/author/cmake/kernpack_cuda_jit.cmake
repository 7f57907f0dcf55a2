# kernpack_cuda_jit_(<target> <file>...): for each .cu file a header of its name with .h behind it ("rows.cu.h"), which the target's
# sources may include. It holds the file, and the headers that the file includes, as a constant that kp::launch() takes:
#
#   namespace device_code { static constexpr kernpack::DeviceCode rows_cu = ...; }
#
# NVRTC compiles it on the machine that runs it (kernpack/device_source.h). The source property KERNPACK_KERNELS lists the instances of
# templates that `kernpack warm` compiles, with dtypes of contracts or C++ types ("scale<f32>"); KERNPACK_OPTIONS has options of NVRTC;
# KERNPACK_STAND_IN is a file of PTX of these kernels, by nvcc -ptx, which runs while they are compiled.
#
# This file is also the script that writes one: cmake -DINPUT=<file> -DNAME=<its name in messages> -DFOLDERS=<folders with headers>
# -DINCLUDE=<folder of Kernpack's headers> -DKERNELS=... -DOPTIONS=... -DSTAND_IN=<file or nothing> -DOUTPUT=<header> -P.

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_policy(VERSION 3.22)

  # Appends the headers that the text in a variable includes, where they are in its own folder or in FOLDERS. Others are looked for when
  # the source is compiled: they are of NVIDIA's wheels.
  macro(kernpack_jit_headers_ variable folder)
    string(REGEX MATCHALL "#[ \t]*include[ \t]*[<\"][^>\"\n;]+[>\"]" lines "${${variable}}")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"]" "\\1" included "${line}")
      if(NOT included IN_LIST names)
        list(APPEND names "${included}")
        set(found NO)
        foreach(place IN ITEMS "${folder}" ${FOLDERS})
          if(NOT found AND EXISTS "${place}/${included}" AND NOT IS_DIRECTORY "${place}/${included}")
            list(APPEND headers "${place}/${included}")
            set(found YES)
          endif()
        endforeach()
        if(NOT found)
          list(APPEND headers "-") # keeps both lists of one length
        endif()
      endif()
    endforeach()
  endmacro()

  file(READ ${INPUT} source)
  if(source STREQUAL "")
    message(FATAL_ERROR "CUDA_JIT: ${INPUT} is empty")
  endif()
  get_filename_component(folder ${INPUT} DIRECTORY)
  list(APPEND FOLDERS ${INCLUDE})
  set(names "")
  set(headers "")
  kernpack_jit_headers_(source "${folder}")
  set(at 0)
  list(LENGTH headers count)
  while(at LESS count)
    list(GET headers ${at} header)
    if(NOT header STREQUAL "-")
      file(READ "${header}" text)
      get_filename_component(folder "${header}" DIRECTORY)
      kernpack_jit_headers_(text "${folder}")
      list(LENGTH headers count)
    endif()
    math(EXPR at "${at} + 1")
  endwhile()

  file(READ ${INCLUDE}/kernpack/device_source.h text)
  string(REGEX MATCHALL "X\\([a-z0-9_]+, \"[a-z0-9_]+\", \"[a-z0-9_: ]+\"\\)" rows "${text}")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "\"([a-z0-9_]+)\", \"([^\"]+)\"" row "${row}")
    set(dtype "${CMAKE_MATCH_1}") # the next match replaces them
    set(type "${CMAKE_MATCH_2}")
    foreach(mark IN ITEMS "<" ",") # of a template's arguments
      string(REGEX REPLACE "${mark} *${dtype} *([,>])" "${mark}${type}\\1" KERNELS "${KERNELS}")
    endforeach()
  endforeach()
  string(REPLACE "," ", " KERNELS "${KERNELS}") # as kp::instance() writes them
  string(REGEX REPLACE ", +" ", " KERNELS "${KERNELS}")
  set(record ${OUTPUT}.record)
  file(WRITE ${record} "kernpack.cuda.1\nkernels ${KERNELS}\noptions ${OPTIONS}\n")
  set(dependencies "")
  if(NOT STAND_IN STREQUAL "")
    file(READ "${STAND_IN}" text)
    if(NOT text MATCHES "\\.target sm_[0-9]")
      message(FATAL_ERROR "CUDA_JIT: KERNPACK_STAND_IN: expected PTX, got a file without a .target line: ${STAND_IN}")
    endif()
    file(APPEND ${record} "stand-in\n" "${text}" "\nend of stand-in\n")
  endif()
  foreach(name header IN ZIP_LISTS names headers)
    if(NOT header STREQUAL "-")
      file(READ "${header}" text)
      string(LENGTH "${text}" size)
      file(APPEND ${record} "header ${size} ${name}\n" "${text}" "\n")
      string(REPLACE " " "\\ " header "${header}")
      string(APPEND dependencies " \\\n  ${header}")
    endif()
  endforeach()
  file(APPEND ${record} "source 1 ${NAME}\n" "${source}")
  file(READ ${record} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  get_filename_component(name ${NAME} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  file(WRITE ${OUTPUT} "// Made from ${NAME}.\n#pragma once\n#include <kernpack/device_source.h>\nnamespace device_code {\n"
                       "static constexpr char kp_source_of_${id}[] = {${bytes}0};\n"
                       "static constexpr kernpack::DeviceCode ${id}{\"${name}\", \"cu\", "
                       "{kp_source_of_${id}, sizeof kp_source_of_${id} - 1}};\n}  // namespace device_code\n")
  file(REMOVE ${record})
  string(REPLACE " " "\\ " output "${OUTPUT}")
  file(WRITE ${OUTPUT}.d "${output}:${dependencies}\n")
  return()
endif()

function(kernpack_cuda_jit_ target)
  if(NOT ARGN)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_device_code)
  set(script ${KERNPACK_CMAKE_DIR}/kernpack_cuda_jit.cmake)
  set(folders "")
  foreach(given IN LISTS KP_INCLUDE_DIRECTORIES)
    get_filename_component(given ${given} ABSOLUTE)
    list(APPEND folders ${given})
  endforeach()
  foreach(file IN LISTS ARGN)
    get_filename_component(input ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    if(NOT name MATCHES "\\.cu$")
      message(FATAL_ERROR "kernpack_add_module(${target}): CUDA_JIT: expected .cu files, got ${file}")
    endif()
    if(NOT EXISTS ${input})
      message(FATAL_ERROR "kernpack_add_module(${target}): CUDA_JIT: there is no file ${input}")
    endif()
    file(RELATIVE_PATH shown ${CMAKE_SOURCE_DIR} ${input})
    get_source_file_property(kernels ${file} KERNPACK_KERNELS)
    get_source_file_property(options ${file} KERNPACK_OPTIONS)
    foreach(list IN ITEMS kernels options)
      if(NOT ${list})
        set(${list} "")
      endif()
    endforeach()
    list(JOIN options " " options)
    get_source_file_property(stand_in ${file} KERNPACK_STAND_IN)
    if(stand_in)
      get_filename_component(stand_in ${stand_in} ABSOLUTE)
    else()
      set(stand_in "")
    endif()
    set(header ${folder}/${name}.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND
        ${CMAKE_COMMAND} -DINPUT=${input} -DNAME=${shown} "-DFOLDERS=${folders}" -DINCLUDE=${KERNPACK_INCLUDE_DIR} "-DKERNELS=${kernels}"
        "-DOPTIONS=${options}" "-DSTAND_IN=${stand_in}" -DOUTPUT=${header} -P ${script}
      DEPENDS ${input} ${script} ${stand_in}
      DEPFILE ${header}.d
      COMMENT "Embedding ${name}, which NVRTC compiles on the machine that runs it"
      VERBATIM)
    target_sources(${target} PRIVATE ${header})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
