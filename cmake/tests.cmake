# kernpack_tests(<target>...): how programs of tests are built. Most of the time their files take is GoogleTest's headers, which are
# read once, and optimising code that runs once.
function(kernpack_tests)
  kernpack_warnings(${ARGN})
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
    target_compile_options(${target} PRIVATE -O1 -g1 $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # ccache needs to see it
  endforeach()
endfunction()
