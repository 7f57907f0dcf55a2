# kernpack_links_fast(<target>): links a program that isn't shipped by mold where it is installed. What has LLVM inside takes it a tenth
# of the time.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold KERNPACK_HAS_MOLD)
function(kernpack_links_fast target)
  if(KERNPACK_HAS_MOLD)
    target_link_options(${target} PRIVATE -fuse-ld=mold)
  endif()
endfunction()

# kernpack_tests(<target>...): how programs of tests are built. Most of the time their files take is headers, GoogleTest's first of
# all, which are read once, and optimising code that runs once. With KERNPACK_UNITY the files of a folder are one unit; those with
# definitions of their own stay apart.
function(kernpack_tests)
  kernpack_warnings(${ARGN})
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
    # -Og of GCC takes two thirds of the time of its -O1. clang, which has one level for both, instruments for sanitizers: at -O0 that
    # takes a third of the time. ccache needs to see the precompiled header.
    target_compile_options(${target} PRIVATE $<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O0> -g1 $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    kernpack_links_fast(${target})
    kernpack_unit_of_each_folder(${target})
  endforeach()
endfunction()
