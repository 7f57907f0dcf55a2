# kernpack_tests(<target>...): how programs of tests are built. Most of the time their files take is headers, GoogleTest's first of
# all, which are read once, and optimising code that runs once. With KERNPACK_UNITY the files of a folder are one unit; those with
# definitions of their own stay apart.
function(kernpack_tests)
  kernpack_warnings(${ARGN})
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
    # -Og of GCC takes two thirds of the time of its -O1; clang has one level for both. ccache needs to see the precompiled header.
    target_compile_options(${target} PRIVATE $<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1> -g1 $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    kernpack_unit_of_each_folder(${target})
  endforeach()
endfunction()
