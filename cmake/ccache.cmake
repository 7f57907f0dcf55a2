# Compile through ccache when it is there and nobody chose a launcher.
find_program(KERNPACK_CCACHE ccache)
mark_as_advanced(KERNPACK_CCACHE)
if(KERNPACK_CCACHE)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      # Without this it passes on whatever has a precompiled header.
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${KERNPACK_CCACHE})
    endif()
  endforeach()
endif()
