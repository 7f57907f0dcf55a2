# Libraries that other wheels bring: nvidia::cublas and the like, and those of any wheel, by kernpack_wheel_library().
set(KERNPACK_LIBRARY_TABLE "${CMAKE_CURRENT_LIST_DIR}/../../../include/kernpack/library_table.h")
if(NOT EXISTS "${KERNPACK_LIBRARY_TABLE}") # in a checkout of the repository
  set(KERNPACK_LIBRARY_TABLE "${CMAKE_CURRENT_LIST_DIR}/../../../ffi/include/kernpack/library_table.h")
endif()

# kernpack_wheel_library(<target>    for LIBRARIES of kernpack_add_module(), foo::foo say
#   LIBRARY <file>                   its name, libfoo.so.1, which is its SONAME, too
#   REQUIRES <requirement>           of the wheel that has it, as pip reads it: "foo>=1,<2"
#   FOLDER <folder>                  of the library in that wheel: foo/lib
#   [SYMBOLS <prefix>...]            with which the names of its functions begin; without it, the wheel must be there when a module is built
#   [INCLUDE_FOLDER <folder>]        of its headers in that wheel; by default ../include, seen from FOLDER
# )
#
# A module that lists the target is linked against a stand-in, made of those names alone that it uses: builds need no such library, and
# give the same file whether one is there or not. Where it is there (in the wheel or NVIDIA's toolkit), its names are compared.
function(kernpack_wheel_library target)
  set(one LIBRARY REQUIRES FOLDER INCLUDE_FOLDER)
  cmake_parse_arguments(PARSE_ARGV 1 KP "" "${one}" "SYMBOLS")
  set(who "kernpack_wheel_library(${target})")
  if(KP_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${who}: unknown argument '${KP_UNPARSED_ARGUMENTS}'; the arguments are LIBRARY, REQUIRES, FOLDER, SYMBOLS, "
                        "INCLUDE_FOLDER")
  endif()
  if(NOT KP_LIBRARY MATCHES "^lib[A-Za-z0-9_+.-]+\\.so(\\.[0-9.]+)?$")
    message(FATAL_ERROR "${who}: LIBRARY: expected a file's name, such as libfoo.so.1, got '${KP_LIBRARY}'")
  endif()
  if(NOT KP_REQUIRES MATCHES "^[A-Za-z0-9][A-Za-z0-9._-]*( *[<>=!~][A-Za-z0-9.,<>=!~*+ ]*)?$")
    message(FATAL_ERROR "${who}: REQUIRES: expected a requirement, such as \"foo>=1,<2\", got '${KP_REQUIRES}'")
  endif()
  if(NOT KP_FOLDER OR IS_ABSOLUTE "${KP_FOLDER}" OR KP_FOLDER MATCHES "(^|/)\\.\\.(/|$)|[\t\n\"\\]")
    message(FATAL_ERROR "${who}: FOLDER: expected a folder in the wheel, such as foo/lib, got '${KP_FOLDER}'")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  if(NOT KP_INCLUDE_FOLDER)
    get_filename_component(KP_INCLUDE_FOLDER ${KP_FOLDER} DIRECTORY)
    string(APPEND KP_INCLUDE_FOLDER "/include")
  endif()
  foreach(name IN ITEMS LIBRARY REQUIRES FOLDER INCLUDE_FOLDER SYMBOLS)
    set_target_properties(${target} PROPERTIES INTERFACE_KERNPACK_${name} "${KP_${name}}")
  endforeach()
endfunction()

# The rows of kernpack/library_table.h.
function(kernpack_nvidia_rows_ result)
  file(READ "${KERNPACK_LIBRARY_TABLE}" text)
  string(REGEX MATCHALL "X\\([0-9]+, [^)]*\\)" rows "${text}")
  set(${result} "${rows}" PARENT_SCOPE)
endfunction()

# nvidia::<name> for each row of kernpack/library_table.h, of one version of CUDA.
function(kernpack_nvidia_libraries_)
  kernpack_nvidia_rows_(rows)
  set(pattern "X\\(([0-9]+), ([A-Za-z0-9]+), \"([^\"]+)\", \"([^\"]+)\", \"([^\"]+)\", \"([^\"]+)\"\\)")
  set(newest 0)
  set(majors "")
  set(prefixes "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "${pattern}" row "${row}")
    list(APPEND majors ${CMAKE_MATCH_1})
    string(REPLACE " " ";" names "${CMAKE_MATCH_6}")
    list(APPEND prefixes ${names})
  endforeach()
  list(REMOVE_DUPLICATES majors)
  list(REMOVE_DUPLICATES prefixes)
  set_property(GLOBAL PROPERTY KERNPACK_NVIDIA_PREFIXES ${prefixes})
  list(GET majors 0 newest)
  set(major "${KERNPACK_CUDA_MAJOR}")
  if(major AND NOT major IN_LIST majors)
    list(JOIN majors ", " majors)
    message(FATAL_ERROR "KERNPACK_CUDA_MAJOR: expected the major version of CUDA whose libraries are linked (${majors}), got '${major}'")
  endif()
  if(NOT major)
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
  if(NOT major IN_LIST majors)
    set(major ${newest})
  endif()
  foreach(row IN LISTS rows)
    string(REGEX MATCH "${pattern}" row "${row}")
    if(CMAKE_MATCH_1 EQUAL major AND NOT TARGET nvidia::${CMAKE_MATCH_2})
      set(name ${CMAKE_MATCH_2})
      string(REPLACE " " ";" symbols "${CMAKE_MATCH_6}")
      kernpack_wheel_library(nvidia::${name} LIBRARY ${CMAKE_MATCH_3} REQUIRES "${CMAKE_MATCH_4}" FOLDER ${CMAKE_MATCH_5}
                                               SYMBOLS ${symbols})
    endif()
  endforeach()
endfunction()
kernpack_nvidia_libraries_()

# The stand-ins and the note of a module (kernpack_add_module() calls it). Leaves the libraries' names in KP_WHEEL_LIBRARIES of the caller.
function(kernpack_wheel_libraries_ target)
  set(libraries "")
  set(note "")
  set(specification "")
  set(archives "")
  foreach(each IN LISTS KP_LIBRARIES)
    if(each MATCHES "^nvidia::" AND NOT TARGET ${each})
      kernpack_no_such_library_(${target} ${each})
    endif()
    if(NOT TARGET ${each})
      continue()
    endif()
    get_target_property(type ${each} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND archives "$<TARGET_FILE:${each}>")
    endif()
    get_target_property(library ${each} INTERFACE_KERNPACK_LIBRARY)
    if(NOT library)
      continue()
    endif()
    foreach(name IN ITEMS REQUIRES FOLDER SYMBOLS INCLUDE_FOLDER)
      get_target_property(${name} ${each} INTERFACE_KERNPACK_${name})
    endforeach()
    kernpack_find_wheel_library_(real include ${target} ${library} ${FOLDER} ${INCLUDE_FOLDER})
    if(NOT real AND NOT SYMBOLS)
      message(FATAL_ERROR "kernpack_add_module(${target}): ${each}: no ${library} in the Python that builds: pip install \"${REQUIRES}\" "
                          "(build-system.requires of pyproject.toml), or say how its names begin: SYMBOLS of kernpack_wheel_library()")
    endif()
    if(include)
      set_property(TARGET ${each} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${include})
      list(APPEND folders ${include})
    endif()
    list(APPEND libraries ${library})
    list(JOIN SYMBOLS " " SYMBOLS)
    string(APPEND specification "${library}|${SYMBOLS}|${real}\n")
    string(APPEND note "    \".ascii \\\"${library}\\\\t${REQUIRES}\\\\t${FOLDER}\\\\n\\\"\\n\"\n")
  endforeach()
  set(KP_WHEEL_LIBRARIES "${libraries}" PARENT_SCOPE)
  if(libraries)
    kernpack_needs_note_(${target} "${note}")
    kernpack_stand_ins_(${target} "${specification}" "${archives}" ${libraries})
  endif()
endfunction()

function(kernpack_no_such_library_ target name)
  kernpack_nvidia_rows_(rows)
  list(TRANSFORM rows REPLACE "^X\\([0-9]+, ([A-Za-z0-9]+),.*" "nvidia::\\1")
  list(REMOVE_DUPLICATES rows)
  list(JOIN rows ", " known)
  message(FATAL_ERROR "kernpack_add_module(${target}): LIBRARIES: no '${name}'; of NVIDIA's wheels there are ${known}")
endfunction()

# The library and the folder of its headers, in the Python that builds or in NVIDIA's toolkit; empty where they aren't.
function(kernpack_find_wheel_library_ library_result include_result target library folder include_folder)
  get_property(folders GLOBAL PROPERTY KERNPACK_PYTHON_FOLDERS)
  if(NOT folders)
    find_program(KERNPACK_PYTHON NAMES python3 python HINTS "${Python_EXECUTABLE}" NO_CMAKE_SYSTEM_PATH)
    set(python ${KERNPACK_PYTHON})
    if(Python_EXECUTABLE)
      set(python ${Python_EXECUTABLE})
    endif()
    set(folders "none")
    if(python)
      execute_process(COMMAND ${python} -c "import sys; print(';'.join(p for p in sys.path if p.startswith('/') and ';' not in p))"
                      OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    set_property(GLOBAL PROPERTY KERNPACK_PYTHON_FOLDERS ${folders})
  endif()
  set(real "")
  set(include "")
  foreach(each IN LISTS folders)
    if(NOT real AND EXISTS ${each}/${folder}/${library})
      set(real ${each}/${folder}/${library})
    endif()
    if(NOT include AND IS_DIRECTORY ${each}/${include_folder})
      set(include ${each}/${include_folder})
    endif()
  endforeach()
  if(folder MATCHES "^nvidia/")
    foreach(home IN ITEMS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" "${CUDAToolkit_TARGET_DIR}" /usr/local/cuda)
      if(NOT real AND IS_ABSOLUTE "${home}" AND EXISTS "${home}/lib64/${library}")
        set(real ${home}/lib64/${library})
      endif()
      if(NOT include AND IS_ABSOLUTE "${home}" AND EXISTS "${home}/include/cuda.h")
        set(include ${home}/include)
      endif()
    endforeach()
  endif()
  set(${library_result} "${real}" PARENT_SCOPE)
  set(${include_result} "${include}" PARENT_SCOPE)
endfunction()

# Links in the ELF note that says which wheel has which library (kernpack/library_table.h). Assembler, because compilers spell the type
# of a section in different ways.
function(kernpack_needs_note_ target lines)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_needs.c)
  if(CXX IN_LIST languages)
    string(APPEND output c)
  endif()
  set(text [[
__asm__(
    ".pushsection .note.kernpack.needs,\"a\",%note\n"
    ".balign 4\n"
    ".long 2f - 1f\n"
    ".long 4f - 3f\n"
    ".long 1\n"
    "1: .asciz \"Kernpack\"\n"
    "2: .balign 4\n"
    "3:\n"
@LINES@    "4: .balign 4\n"
    ".popsection\n");
]])
  string(REPLACE "@LINES@" "${lines}" text "${text}")
  file(GENERATE OUTPUT ${output} CONTENT "${text}")
  target_sources(${target} PRIVATE ${output})
endfunction()

# Before each link: a library of each name, with the functions that the module's objects need of it.
function(kernpack_stand_ins_ target specification archives)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_libraries)
  set(compiler ${CMAKE_CXX_COMPILER})
  set(compiler_target ${CMAKE_CXX_COMPILER_TARGET})
  if(NOT compiler)
    set(compiler ${CMAKE_C_COMPILER})
    set(compiler_target ${CMAKE_C_COMPILER_TARGET})
  endif()
  file(MAKE_DIRECTORY ${folder})
  file(WRITE ${folder}/specification.txt "${specification}")
  get_property(prefixes GLOBAL PROPERTY KERNPACK_NVIDIA_PREFIXES)
  kernpack_objects_(list ${target})
  add_custom_command(
    TARGET ${target}
    PRE_LINK
    COMMAND ${CMAKE_COMMAND} -DMODULE=${target} -DOBJECTS=${list} "-DARCHIVES=${archives}" "-DPREFIXES=${prefixes}" -DFOLDER=${folder}
            -DCOMPILER=${compiler} -DTARGET=${compiler_target} -DNM=${CMAKE_NM} -P ${KERNPACK_CMAKE_DIR}/kernpack_stand_ins.cmake
    VERBATIM)
  # An option, because CMake puts link directories into the run path of what it builds: the stand-ins would be loaded from there.
  target_link_options(${target} PRIVATE "-L${folder}")
  foreach(library IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE -l:${library})
  endforeach()
endfunction()
