# CPython for Windows as the call core needs it, on a machine that has none: kernpack_python, with the headers of the Python that builds
# (the limited API is the same on every system) and an import library of python3.dll, which every CPython of version 3 has.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('include'))"
                OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS "${headers}/Python.h")
  message(FATAL_ERROR "The headers of ${Python_EXECUTABLE} are missing, ${headers}/Python.h; install them (Debian: python3-dev)")
endif()
# Python.h includes the pyconfig.h beside it, which is for the system that builds: so all headers are copied.
set(include ${CMAKE_CURRENT_BINARY_DIR}/include)
file(COPY ${headers}/ DESTINATION ${include} PATTERN pyconfig*.h EXCLUDE)
configure_file(${CMAKE_CURRENT_LIST_DIR}/pyconfig.h ${include}/pyconfig.h COPYONLY)

# The names that the core uses, and no more: whoever uses another function adds it, or the link fails.
set(library ${CMAKE_CURRENT_BINARY_DIR}/libpython3.a)
add_custom_command(
  OUTPUT ${library}
  COMMAND ${KERNPACK_ZIG} dlltool -m i386:x86-64 -d ${CMAKE_CURRENT_LIST_DIR}/python3.def -l ${library}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/python3.def
  VERBATIM)
add_custom_target(kernpack_python3_library DEPENDS ${library})
add_library(kernpack_python INTERFACE)
add_dependencies(kernpack_python kernpack_python3_library)
target_include_directories(kernpack_python SYSTEM INTERFACE ${include})
target_link_libraries(kernpack_python INTERFACE ${library})
