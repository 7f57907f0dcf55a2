# Links the shared modules of the folder that includes this by PyPI's ziglang, with GNU's C++ library inside, so that they run from
# glibc 2.28 on. Sources that they then need too are in KERNPACK_OLD_GLIBC.
option(KERNPACK_LINK_WITH_ZIG "Link the extensions of wheels for glibc 2.28, by PyPI's ziglang" OFF)
set(KERNPACK_OLD_GLIBC)
if(KERNPACK_LINK_WITH_ZIG)
  include(${CMAKE_CURRENT_LIST_DIR}/zig_programs.cmake)
  foreach(library IN ITEMS libstdc++.a libgcc_s.so.1)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE ${library}
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endforeach()
  set(CMAKE_CXX_CREATE_SHARED_MODULE
      "\"${KERNPACK_ZIG_DIR}/c++\" -nostdlib++ -shared -s -o <TARGET> <LINK_FLAGS> <OBJECTS> -Wl,--start-group <LINK_LIBRARIES> \
${libstdc++.a} -Wl,--end-group ${libgcc_s.so.1} -lm -lpthread")
  set(KERNPACK_OLD_GLIBC ${CMAKE_CURRENT_LIST_DIR}/old_glibc.c)
endif()
