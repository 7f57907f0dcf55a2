# Compile through ccache when it is there and nobody chose a launcher.
find_program(KERNPACK_CCACHE ccache)
mark_as_advanced(KERNPACK_CCACHE)
if(KERNPACK_CCACHE)
  # Without this it passes on whatever has a precompiled header.
  set(environment CCACHE_SLOPPINESS=pch_defines,time_macros)
  # Paths as seen from the build folder: what two build folders of one checkout compile alike is compiled once, if they are equally
  # deep. The wheels' generator of kind llvm is what `make test` compiled in build/dev.
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND environment CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true)
  endif()
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER env ${environment} ${KERNPACK_CCACHE})
    endif()
  endforeach()
endif()
