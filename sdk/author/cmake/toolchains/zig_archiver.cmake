# How CMake calls zig's archiver, in place of the rules of the system that it builds for, which CMake reads before this file.
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "\"${KERNPACK_ZIG}\" ar qcD <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "\"${KERNPACK_ZIG}\" ar qD <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "\"${KERNPACK_ZIG}\" ranlib <TARGET>")
endforeach()
