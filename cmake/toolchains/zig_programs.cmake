# KERNPACK_ZIG_DIR: a folder with cc and c++, which are zig for glibc 2.28. `pip install ziglang` into the Python that CMake finds.
if(NOT KERNPACK_ZIG_DIR)
  set(python python3)
  if(Python_EXECUTABLE)
    set(python ${Python_EXECUTABLE})
  endif()
  execute_process(
    COMMAND ${python} -c "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent)"
    OUTPUT_VARIABLE zig
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "zig is missing, the Python package ziglang: ${python} -m pip install ziglang")
  endif()
  # /usr/include comes last: header-only libraries and Python.h are there.
  set(processor ${CMAKE_HOST_SYSTEM_PROCESSOR})
  set(includes "-idirafter /usr/include")
  if(KERNPACK_SYSTEM_PROCESSOR)
    set(processor ${KERNPACK_SYSTEM_PROCESSOR})
    set(includes "-idirafter '${KERNPACK_SYSROOT}/usr/include' ${includes}")
  endif()
  # CMake wants one program, not `zig c++ -target ...`.
  set(KERNPACK_ZIG_DIR ${CMAKE_BINARY_DIR}/zig)
  foreach(language IN ITEMS cc c++)
    file(WRITE ${KERNPACK_ZIG_DIR}/${language}
         "#!/bin/sh\nexec '${zig}/zig' ${language} -target ${processor}-linux-gnu.2.28 \"$@\" ${includes}\n")
    file(CHMOD ${KERNPACK_ZIG_DIR}/${language} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endforeach()
endif()
