# kernpack_add_module(<target>
#   SOURCES <file>...              C, C++ or CUDA sources of the module
#   [VARIANT_SOURCES <file>...]    compiled once for each of VARIANTS ...
#   [VARIANTS <level>...]          ... e.g. x86-64-v2 x86-64-v3 x86-64-v4+avx512vnni, ascending; the first one is the baseline
#   [CUDA_ARCHITECTURES <n>...]    machine code for each, 80 90 100 say, and PTX of the lowest and highest for all others from the lowest on
#   [DEVICE_CODE <file>...]        code for devices, rows.cl say, whose bytes sources get from "rows.cl.h" (device_code::rows_cl)
#   [CUDA_JIT <file>...]           CUDA C++ that NVRTC compiles on the machine that runs it (kernpack_cuda_jit.cmake): rows.cu.h has rows.cu
#   [OUTPUT_NAME <name>]           file name without .so or .dll; default: <target>
#   [DESTINATION <folder>]         install there; in a wheel, the package's folder
#   [INCLUDE_DIRECTORIES <dir>...] [DEFINITIONS <x=y>...] [COMPILE_OPTIONS <option>...] [LIBRARIES <library>...]
#                                  libraries of other wheels, too: nvidia::cublas (kernpack_wheel_library.cmake)
#   [MANY_FUNCTIONS]               for thousands of functions: the function table gets no relocations, which take most of a load's time.
#                                  On Linux only; without effect elsewhere. kernpack 0.1.0 and newer load such modules (docs/abi.md)
#   [GLIBC <version>]              the build names each symbol that needs a newer C library; default 2.28 (manylinux_2_28)
# )
#
# Adds <target>, a shared object that exports the query symbol and the function aliases and nothing else. Variant sources see
# KP_VARIANT (x86_64_v3) and, except for the baseline, KP_TARGET ("llvm -mcpu=x86-64-v3"), which KP_EXPORT_FOR takes. A level may
# name features beside a processor: x86-64-v4+avx512vnni is KP_VARIANT x86_64_v4_avx512vnni and KP_TARGET "llvm -mcpu=x86-64-v4
# -mattr=+avx512vnni". The source property KERNPACK_VARIANTS lists the levels that one file is compiled for, where not all.
function(kernpack_add_module target)
  set(one OUTPUT_NAME DESTINATION GLIBC)
  set(many SOURCES VARIANT_SOURCES VARIANTS CUDA_ARCHITECTURES DEVICE_CODE CUDA_JIT INCLUDE_DIRECTORIES DEFINITIONS COMPILE_OPTIONS
           LIBRARIES)
  cmake_parse_arguments(PARSE_ARGV 1 KP MANY_FUNCTIONS "${one}" "${many}")
  if(KP_UNPARSED_ARGUMENTS)
    list(JOIN KP_UNPARSED_ARGUMENTS " " unknown)
    list(JOIN many ", " known)
    list(JOIN one ", " known_too)
    message(FATAL_ERROR "kernpack_add_module(${target}): unknown argument '${unknown}'; the arguments are ${known}, ${known_too}, "
                        "MANY_FUNCTIONS")
  endif()
  if("DESTINATION" IN_LIST KP_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "kernpack_add_module(${target}): DESTINATION has no value; give it the package's folder, as in "
                        "DESTINATION my_kernels")
  endif()
  if(IS_ABSOLUTE "${KP_DESTINATION}")
    message(FATAL_ERROR "kernpack_add_module(${target}): DESTINATION: expected the package's folder, as in DESTINATION my_kernels, "
                        "got ${KP_DESTINATION}, which is outside of any wheel")
  endif()
  if(NOT KP_SOURCES)
    message(FATAL_ERROR "kernpack_add_module(${target}): SOURCES is empty; list the file that holds KP_MODULE(...)")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(source IN LISTS KP_SOURCES KP_VARIANT_SOURCES)
    foreach(pair IN ITEMS "CXX;cc|cpp|cxx" "CUDA;cu")
      list(GET pair 0 language)
      list(GET pair 1 suffixes)
      if(source MATCHES "\\.(${suffixes})$" AND NOT language IN_LIST languages)
        list(JOIN languages " " enabled)
        message(FATAL_ERROR "kernpack_add_module(${target}): ${source} is in ${language}, which this project doesn't compile; write "
                            "project(... LANGUAGES ${enabled} ${language})")
      endif()
    endforeach()
  endforeach()
  if(KP_VARIANT_SOURCES AND NOT KP_VARIANTS)
    message(FATAL_ERROR "kernpack_add_module(${target}): VARIANT_SOURCES needs VARIANTS, for example x86-64-v2 x86-64-v3")
  endif()

  if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC" OR CMAKE_C_COMPILER_ID STREQUAL "MSVC")
    message(FATAL_ERROR "kernpack_add_module(${target}): MSVC's cl isn't supported; compile with zig (pip install ziglang) or clang")
  endif()

  add_library(${target} MODULE ${KP_SOURCES})
  kernpack_wheel_libraries_(${target})
  kernpack_module_settings_(${target})
  kernpack_cuda_(${target} ${KP_SOURCES})
  kernpack_device_code_(${target} ${KP_DEVICE_CODE})
  kernpack_cuda_jit_(${target} ${KP_CUDA_JIT})
  kernpack_variants_(${target})
  kernpack_support_(${target})
  kernpack_content_hash_(${target} ${KP_SOURCES} ${KP_VARIANT_SOURCES} ${KP_DEVICE_CODE} ${KP_CUDA_JIT})

  kernpack_link_flags_(${target})
  get_directory_property(options COMPILE_OPTIONS)
  if("${options} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=")
    target_link_options(${target} PRIVATE -Wl,-z,undefs) # clang puts sanitizer runtimes into the executable only
  endif()
  set(name ${target})
  if(KP_OUTPUT_NAME)
    set(name ${KP_OUTPUT_NAME})
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
                                             LINK_DEPENDS "${KERNPACK_CMAKE_DIR}/kernpack_module.map")
  if(WIN32)
    set_target_properties(${target} PROPERTIES SUFFIX ".dll")
  else()
    set_target_properties(${target} PROPERTIES SUFFIX ".so")
  endif()
  if(KP_MANY_FUNCTIONS)
    kernpack_many_functions_(${target})
  endif()
  kernpack_check_module_(${target})
  if(KP_DESTINATION)
    install(TARGETS ${target} LIBRARY DESTINATION ${KP_DESTINATION})
    set_target_properties(${target} PROPERTIES KERNPACK_DESTINATION ${KP_DESTINATION}) # for what belongs to the module
  endif()
endfunction()

function(kernpack_link_flags_ target)
  if(WIN32)
    target_link_options(${target} PRIVATE ${KERNPACK_LINK_ONLY_FLAGS} ${KERNPACK_WINDOWS_LINK_FLAGS})
    return()
  endif()
  list(JOIN KERNPACK_VERSION_SCRIPT_FLAGS "\" \"" script)
  target_link_options(${target} PRIVATE ${KERNPACK_LINK_ONLY_FLAGS} ${KERNPACK_LINK_FLAGS} "SHELL:\"${script}\"")
endfunction()

# Sets the compile options of a module's own objects and of the objects of its variants. Reads the caller's KP_ arguments.
function(kernpack_module_settings_ target)
  target_link_libraries(${target} PRIVATE kernpack::headers ${KP_LIBRARIES})
  target_include_directories(${target} PRIVATE ${KP_INCLUDE_DIRECTORIES})
  target_compile_definitions(${target} PRIVATE ${KP_DEFINITIONS})
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CXX IN_LIST languages)
    target_compile_features(${target} PRIVATE cxx_std_17)
  endif()
  set(flags ${KERNPACK_COMPILE_FLAGS})
  if(WIN32)
    set(flags ${KERNPACK_WINDOWS_COMPILE_FLAGS})
  endif()
  set(cxx $<COMPILE_LANGUAGE:CXX>)
  set(host $<COMPILE_LANGUAGE:C,CXX>)
  target_compile_options(
    ${target}
    PRIVATE "$<${host}:${flags}>"
            "$<${cxx}:${KERNPACK_CXX_COMPILE_FLAGS}>"
            "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${KERNPACK_GNU_COMPILE_FLAGS}>"
            "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIC,-fvisibility=hidden>"
            ${KP_COMPILE_OPTIONS})
  kernpack_relative_paths_(${target})
  kernpack_diagnose_(${target})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_compile_options(${target} PRIVATE "SHELL:$<${host}:${KERNPACK_GLIBC_COMPAT_FLAGS}>")
  endif()
endfunction()

# Keeps the paths of this machine out of the module: those of the project, of what it generates, of the headers that it is given. Reads
# the caller's KP_INCLUDE_DIRECTORIES.
function(kernpack_relative_paths_ target)
  set(folders "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}" "${KERNPACK_INCLUDE_DIR}" "${KERNPACK_CMAKE_DIR}")
  foreach(folder IN LISTS KP_INCLUDE_DIRECTORIES CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES)
    string(FIND "${folder}" "${CMAKE_SOURCE_DIR}/" inside)
    if(IS_ABSOLUTE "${folder}" AND NOT inside EQUAL 0 AND NOT folder MATCHES "\\$<")
      list(APPEND folders "${folder}")
    endif()
  endforeach()
  list(REMOVE_ITEM folders "")
  list(REMOVE_DUPLICATES folders)
  set(flags "${KERNPACK_PREFIX_MAP_FLAG}")
  if("${SKBUILD_STATE}" STREQUAL "wheel")
    list(PREPEND flags "${KERNPACK_WHEEL_PREFIX_MAP_FLAG}")
  endif()
  foreach(folder IN LISTS folders)
    foreach(flag IN LISTS flags)
      kernpack_prefix_map_(${target} "${folder}" "${flag}")
    endforeach()
  endforeach()
endfunction()

# Maps one folder. Compilers that can't be told of it, because they take the option apart, go without.
function(kernpack_prefix_map_ target folder flag)
  string(REPLACE ">" "$<ANGLE-R>" escaped "${folder}")
  string(REPLACE "@FOLDER@" "${escaped}" flag "${flag}")
  set(compilers GNU)
  if(NOT folder MATCHES "=") # where clang's option ends, which for GCC is the last one
    set(compilers GNU,Clang)
  endif()
  foreach(language IN ITEMS C CXX)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:${language},${compilers}>:${flag}>")
  endforeach()
  if(NOT folder MATCHES "[\"$`\\]") # nvcc takes it apart at commas, then hands it on through a shell
    string(REPLACE "," "\\," flag "${flag}")
    string(REPLACE "'" "'\"'\"'" flag "${flag}")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler='${flag}'>")
  endif()
endfunction()

# Runs the compiler inside the folder diagnose, which explains an author's mistake in plain words in place of the compiler's templates.
# Without Python, or where the project runs its compilers inside something else, the compiler speaks alone.
function(kernpack_diagnose_ target)
  get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
  get_directory_property(own RULE_LAUNCH_COMPILE)
  find_program(KERNPACK_PYTHON NAMES python3 python HINTS "${Python_EXECUTABLE}" NO_CMAKE_SYSTEM_PATH)
  mark_as_advanced(KERNPACK_PYTHON)
  foreach(folder IN ITEMS ${KERNPACK_CMAKE_DIR}/../../../diagnose ${KERNPACK_CMAKE_DIR}/../python/kernpack_sdk/diagnose)
    if(EXISTS ${folder}/__main__.py AND KERNPACK_PYTHON AND NOT launcher AND NOT own)
      get_filename_component(folder ${folder} ABSOLUTE)
      set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE "\"${KERNPACK_PYTHON}\" -I -S -B \"${folder}\"")
    endif()
  endforeach()
endfunction()

# The objects of each variant follow the module's own, in ascending order. Order matters: of an inline function compiled in
# several of them the linker keeps the first copy, so a wider instruction set's copy never serves a narrower one.
function(kernpack_variants_ target)
  set(baseline TRUE)
  foreach(level IN LISTS KP_VARIANTS)
    string(MAKE_C_IDENTIFIER ${level} id)
    if(level MATCHES "^x86-64" AND CMAKE_SYSTEM_PROCESSOR AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
      message(FATAL_ERROR "kernpack_add_module(${target}): VARIANTS: ${level} is a level of x86_64, and this build is for "
                          "${CMAKE_SYSTEM_PROCESSOR}; choose VARIANTS by CMAKE_SYSTEM_PROCESSOR, for example armv8-a")
    endif()
    set(objects ${target}_${id})
    string(REPLACE "+" ";" features ${level})
    list(POP_FRONT features cpu)
    if(cpu MATCHES "^armv") # compilers take level and features in one word
      kernpack_arm_features_(${target} ${level} ${cpu} features)
      set(options -march=${level})
      set(processor "")
      set(triple " -mtriple=aarch64-linux-gnu")
    else()
      list(TRANSFORM features PREPEND -m OUTPUT_VARIABLE options)
      string(REPLACE "-" "_" zig_cpu ${cpu})
      list(PREPEND options $<IF:$<BOOL:${KERNPACK_ZIG}>,-march=${zig_cpu},-march=${cpu}>)
      set(processor " -mcpu=${cpu}")
      set(triple "")
    endif()
    list(JOIN features ",+" attributes)
    if(attributes)
      string(PREPEND attributes " -mattr=+")
    endif()
    set(kp_target "llvm${processor}${attributes}${triple}")
    kernpack_variant_sources_(sources ${level} ${KP_VARIANT_SOURCES})
    add_library(${objects} OBJECT ${sources})
    kernpack_module_settings_(${objects})
    target_compile_options(${objects} PRIVATE ${options})
    target_compile_definitions(${objects} PRIVATE KP_VARIANT=${id})
    if(NOT baseline)
      target_compile_definitions(${objects} PRIVATE "KP_TARGET=\"${kp_target}\"")
    endif()
    set(baseline FALSE)
    target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:${objects}>) # after the target's own objects
  endforeach()
endfunction()

# Puts what a version of the Arm architecture has before the features of a level (`result`): systems report the features of a
# processor, not its version. Versions from 8.4 on have instructions that Linux reports under names that compilers don't know.
function(kernpack_arm_features_ target level version result)
  set(armv8-a "")
  set(armv8.1-a crc lse rdm)
  set(armv8.2-a ${armv8.1-a})
  set(armv8.3-a ${armv8.2-a} rcpc jsconv complxnum)
  if(NOT DEFINED ${version})
    message(FATAL_ERROR "kernpack_add_module(${target}): VARIANTS: expected armv8-a, armv8.1-a, armv8.2-a or armv8.3-a and features, "
                        "as in armv8.2-a+dotprod, got ${level}; name what you need of a later version as features")
  endif()
  set(${result} ${${version}} ${${result}} PARENT_SCOPE)
endfunction()

# Those of the sources that are compiled for `level`.
function(kernpack_variant_sources_ result level)
  set(chosen "")
  foreach(source IN LISTS ARGN)
    get_source_file_property(levels ${source} KERNPACK_VARIANTS)
    if(NOT levels OR level IN_LIST levels)
      list(APPEND chosen ${source})
    endif()
  endforeach()
  if(NOT chosen)
    message(FATAL_ERROR "kernpack_add_module: no file of VARIANT_SOURCES is compiled for ${level}, which VARIANTS lists")
  endif()
  set(${result}
      ${chosen}
      PARENT_SCOPE)
endfunction()

# Links what answers the aliases, compiled once a project: the module's own sources then compile in a third of the time.
function(kernpack_support_ target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT CXX IN_LIST languages)
    return()
  endif()
  if(NOT TARGET kernpack_module_support)
    set(folder ${KERNPACK_CMAKE_DIR}/support)
    add_library(kernpack_module_support STATIC EXCLUDE_FROM_ALL ${folder}/aliases.cc ${folder}/check.cc ${folder}/length.cc)
    unset(KP_LIBRARIES)
    unset(KP_INCLUDE_DIRECTORIES)
    unset(KP_DEFINITIONS)
    set(KP_COMPILE_OPTIONS ${KERNPACK_SUPPORT_FLAGS})
    kernpack_module_settings_(kernpack_module_support)
    set_source_files_properties(${folder}/check.cc PROPERTIES COMPILE_OPTIONS "${KERNPACK_SUPPORT_CHECK_FLAGS}")
  endif()
  foreach(level IN LISTS KP_VARIANTS)
    string(MAKE_C_IDENTIFIER ${level} id)
    target_compile_definitions(${target}_${id} PRIVATE ${KERNPACK_SUPPORT_DEFINITION})
  endforeach()
  target_compile_definitions(${target} PRIVATE ${KERNPACK_SUPPORT_DEFINITION})
  target_link_libraries(${target} PRIVATE kernpack_module_support)
endfunction()

# Links a digest of the sources in, as the symbol that the module's table picks up.
function(kernpack_content_hash_ target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_content_hash.c)
  if(CXX IN_LIST languages)
    set(output ${output}c)
  endif()
  set(sources "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path ${source} ABSOLUTE)
    list(APPEND sources ${path})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${sources}" -DOUTPUT=${output} -P ${KERNPACK_CMAKE_DIR}/kernpack_content_hash.cmake
    DEPENDS ${sources} ${KERNPACK_CMAKE_DIR}/kernpack_content_hash.cmake
    COMMENT "Hashing the sources of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# After each link: takes the relocations of the function table out of the file.
function(kernpack_many_functions_ target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  find_program(KERNPACK_PYTHON NAMES python3 python HINTS "${Python_EXECUTABLE}" NO_CMAKE_SYSTEM_PATH)
  foreach(folder IN ITEMS ${KERNPACK_CMAKE_DIR}/../../../.. ${KERNPACK_CMAKE_DIR}/../python)
    if(EXISTS ${folder}/kernpack_sdk/unrelocate.py)
      set(command ${CMAKE_COMMAND} -E env PYTHONPATH=${folder} PYTHONDONTWRITEBYTECODE=1 ${KERNPACK_PYTHON} -m kernpack_sdk.unrelocate)
    endif()
  endforeach()
  set(failed "there is no Python")
  if(KERNPACK_PYTHON)
    execute_process(COMMAND ${command} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE error)
    string(REGEX REPLACE ".*\n(.+)\n$" "\\1" error "${error}")
  endif()
  if(failed)
    message(FATAL_ERROR "kernpack_add_module(${target}): MANY_FUNCTIONS needs a Python with kernpack-sdk (${error}); run pip install "
                        "kernpack-sdk and configure again with -DKERNPACK_PYTHON=<that python>")
  endif()
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${command} $<TARGET_FILE:${target}> VERBATIM)
endfunction()

# After each link: exports, needed libraries, floating-point start-up code, symbol versions.
function(kernpack_check_module_ target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_READELF OR NOT CMAKE_NM)
    return()
  endif()
  set(glibc 2.28)
  if(KP_GLIBC)
    set(glibc ${KP_GLIBC})
  endif()
  kernpack_objects_(list ${target})
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DMODULE=$<TARGET_FILE:${target}> -DOBJECTS=${list} -DGLIBC=${glibc}
            "-DWHEEL_LIBRARIES=${KP_WHEEL_LIBRARIES}" -DREADELF=${CMAKE_READELF} -DNM=${CMAKE_NM} -P
            ${KERNPACK_CMAKE_DIR}/kernpack_check_module.cmake
    VERBATIM)
endfunction()

# A file with the paths of the module's objects and of its variants' objects, a line each, which is written when the build is made. Reads
# the caller's KP_VARIANTS.
function(kernpack_objects_ result target)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_objects_$<CONFIG>.txt)
  get_target_property(listed ${target} KERNPACK_OBJECTS_LISTED)
  if(NOT listed)
    set(objects "$<TARGET_OBJECTS:${target}>")
    foreach(level IN LISTS KP_VARIANTS)
      string(MAKE_C_IDENTIFIER ${level} id)
      list(APPEND objects "$<TARGET_OBJECTS:${target}_${id}>")
    endforeach()
    file(GENERATE OUTPUT ${list} CONTENT "$<JOIN:${objects},\n>\n")
    set_target_properties(${target} PROPERTIES KERNPACK_OBJECTS_LISTED TRUE)
  endif()
  set(${result} ${list} PARENT_SCOPE)
endfunction()
