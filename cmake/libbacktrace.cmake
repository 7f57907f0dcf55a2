# kernpack_backtrace: gcc's libbacktrace, which reads the debug information that names files and lines in backtraces. gcc brings
# header and static library along in a folder of its own (Debian: libgcc-12-dev), so gcc is asked also where another compiler
# builds. It reads every shared object of the process, never again, and so never the ones that are loaded later: here it reads one,
# because dl_iterate_phdr is renamed to a function of ffi/src/values/error/linux/source_lines.cc in a copy of the library.
if(WIN32) # errors have no backtraces there (ffi/src/values/error/windows)
  return()
endif()
set(KERNPACK_LIBBACKTRACE_COPY ${CMAKE_BINARY_DIR}/libkernpack_backtrace.a)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(gcc ${CMAKE_CXX_COMPILER})
else()
  set(name gcc)
  if(CMAKE_CROSSCOMPILING)
    set(name ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
  endif()
  find_program(KERNPACK_GCC NAMES ${name})
  set(gcc ${KERNPACK_GCC})
endif()
foreach(file IN ITEMS libbacktrace.a include)
  set(hint_${file} "")
  if(gcc)
    execute_process(COMMAND ${gcc} -print-file-name=${file} OUTPUT_VARIABLE hint_${file} OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endforeach()
cmake_path(GET hint_libbacktrace.a PARENT_PATH folder)
find_library(KERNPACK_LIBBACKTRACE libbacktrace.a HINTS ${folder})
find_path(KERNPACK_LIBBACKTRACE_INCLUDE backtrace.h HINTS ${hint_include})

set(problem "")
if(NOT KERNPACK_LIBBACKTRACE OR NOT KERNPACK_LIBBACKTRACE_INCLUDE)
  set(problem "gcc's libbacktrace.a and backtrace.h were not found")
elseif(NOT CMAKE_OBJCOPY)
  set(problem "objcopy was not found")
else()
  execute_process(
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym dl_iterate_phdr=kernpack_backtrace_object ${KERNPACK_LIBBACKTRACE}
            ${KERNPACK_LIBBACKTRACE_COPY}
    RESULT_VARIABLE code
    ERROR_QUIET)
  if(code EQUAL 0)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS "-fPIC -idirafter \"${KERNPACK_LIBBACKTRACE_INCLUDE}\"")
    set(CMAKE_REQUIRED_LINK_OPTIONS -shared)
    set(CMAKE_REQUIRED_LIBRARIES ${KERNPACK_LIBBACKTRACE_COPY})
    check_cxx_source_compiles(
      "#include <backtrace.h>
      #include <link.h>
      extern \"C\" int kernpack_backtrace_object(int (*)(dl_phdr_info*, size_t, void*), void*) { return 0; }
      extern \"C\" int probe() {
        return backtrace_pcinfo(backtrace_create_state(nullptr, 1, nullptr, nullptr), 0, nullptr, nullptr, nullptr);
      }"
      KERNPACK_LIBBACKTRACE_LINKS)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
  if(NOT code EQUAL 0 OR NOT KERNPACK_LIBBACKTRACE_LINKS)
    set(problem "${KERNPACK_LIBBACKTRACE} does not link into a shared object here")
  endif()
endif()
if(problem)
  message(STATUS "Backtraces name functions only, no lines: ${problem}")
else()
  message(STATUS "Backtraces name files and lines with ${KERNPACK_LIBBACKTRACE}")
  add_library(kernpack_backtrace INTERFACE)
  target_compile_definitions(kernpack_backtrace INTERFACE KERNPACK_HAS_LIBBACKTRACE)
  # -idirafter: the folder also holds gcc's own stddef.h, which another compiler must not read.
  target_compile_options(kernpack_backtrace INTERFACE "SHELL:-idirafter \"${KERNPACK_LIBBACKTRACE_INCLUDE}\"")
  target_link_libraries(kernpack_backtrace INTERFACE ${KERNPACK_LIBBACKTRACE_COPY})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # Its atomic operations are calls of functions in gcc's own library, which other compilers don't link.
    execute_process(COMMAND ${gcc} -print-libgcc-file-name OUTPUT_VARIABLE libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
    target_link_libraries(kernpack_backtrace INTERFACE ${libgcc})
  endif()
endif()
