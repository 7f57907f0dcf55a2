# kernpack_add_device_conformance(<target> BACKEND <device type> [PLUGIN <target>] [REQUIRE])
#
# A program that runs Kernpack's conformance suite on a device backend, and a test of that name that runs it. PLUGIN is the
# target of the plugin that has the backend. Where there is no device the tests are skipped with the reason; with REQUIRE the run
# fails. Needs GoogleTest and libkernpack.
set(KERNPACK_CONFORMANCE_FOLDERS ${CMAKE_CURRENT_LIST_DIR}/device_conformance
                                 ${CMAKE_CURRENT_LIST_DIR}/../../../tests/device/conformance)
function(kernpack_add_device_conformance target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REQUIRE" "BACKEND;PLUGIN" "")
  if(NOT arg_BACKEND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernpack_add_device_conformance(${target} BACKEND <device type> [PLUGIN <target>] [REQUIRE])")
  endif()
  if(NOT TARGET kernpack::kernpack)
    message(FATAL_ERROR "kernpack_add_device_conformance(${target}): ${KERNPACK_HOST_LIBRARY_HINT}")
  endif()
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "kernpack_add_device_conformance(${target}) needs GoogleTest (Debian: apt install libgtest-dev)")
  endif()
  list(TRANSFORM KERNPACK_CONFORMANCE_FOLDERS APPEND /*.cc OUTPUT_VARIABLE patterns) # one of the two is there
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_executable(${target} ${sources})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE kernpack::kernpack GTest::gtest)
  set(plugin)
  if(arg_PLUGIN)
    set(plugin --plugin=$<TARGET_FILE:${arg_PLUGIN}>)
    add_dependencies(${target} ${arg_PLUGIN})
  endif()
  add_test(NAME ${target} COMMAND ${target} --backend=${arg_BACKEND} ${plugin} $<$<BOOL:${arg_REQUIRE}>:--require>
           COMMAND_EXPAND_LISTS)
endfunction()
