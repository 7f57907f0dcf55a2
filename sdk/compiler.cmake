# kernpack::sdk: targets, virtual devices, the IR with its passes and generators. A static library over libkernpack's C table.
file(GLOB_RECURSE KERNPACK_SDK_SOURCES CONFIGURE_DEPENDS src/*.cc)
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/host_linked\\.cc$")
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/src/device/") # plugins of their own
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/codegen/without_llvm\\.cc$")
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/src/(codegen/llvm|codegen/frame|export)/") # codegen/llvm/CMakeLists.txt has them
# Objects, for who brings a host of its own (the Python extension); with the linked host they make the library. Those of code, from
# targets to generators, know nothing of those of programs.
set(KERNPACK_SDK_PROGRAM_SOURCES ${KERNPACK_SDK_SOURCES})
list(FILTER KERNPACK_SDK_PROGRAM_SOURCES INCLUDE REGEX "/src/(program|plan|execute|device_api)/")
list(REMOVE_ITEM KERNPACK_SDK_SOURCES ${KERNPACK_SDK_PROGRAM_SOURCES})
file(GLOB_RECURSE KERNPACK_SHARED_SOURCES CONFIGURE_DEPENDS ../ffi/shared/*.cc)
add_library(kernpack_sdk_code OBJECT ${KERNPACK_SDK_SOURCES} ${KERNPACK_SHARED_SOURCES})
add_library(kernpack_sdk_programs OBJECT ${KERNPACK_SDK_PROGRAM_SOURCES})
foreach(part IN ITEMS kernpack_sdk_code kernpack_sdk_programs)
  target_include_directories(${part} PRIVATE src PUBLIC include)
  target_link_libraries(${part} PUBLIC kernpack_headers PRIVATE kernpack_shared kernpack_header_libraries)
  target_compile_features(${part} PUBLIC cxx_std_20)
  kernpack_warnings(${part})
  kernpack_unit_of_each_folder(${part} ${CMAKE_CURRENT_SOURCE_DIR}/src)
endforeach()

# Generators hand the machine's C compiler the headers that generated C includes.
set(KERNPACK_HEADER_TEXTS "")
function(kernpack_hold_headers_ root)
  foreach(path IN LISTS ARGN)
    get_filename_component(file ${root}/${path} ABSOLUTE)
    file(READ ${file} text)
    string(APPEND KERNPACK_HEADER_TEXTS "    {\"${path}\", R\"kernpack_header(${text})kernpack_header\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(KERNPACK_HEADER_TEXTS "${KERNPACK_HEADER_TEXTS}" PARENT_SCOPE)
endfunction()
kernpack_hold_headers_(../ffi/include kernpack/abi.h kernpack/device_api.h kernpack/dtype_table.h kernpack/glibc_compat.h
                       kernpack/host/host.h kernpack/host/modules.h kernpack/value_names.h)
kernpack_hold_headers_(src codegen/frame/message.h codegen/frame/arguments.h codegen/frame/frame.h codegen/frame/launch.h)
configure_file(src/codegen/c_headers.cc.in ${CMAKE_CURRENT_BINARY_DIR}/c_headers.cc @ONLY)
target_sources(kernpack_sdk_code PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/c_headers.cc)

# kernpack_write_rows_(<header> <macro> <text> <item>...): a header with that text, and a macro that gives its argument each item.
function(kernpack_write_rows_ header macro text)
  list(TRANSFORM ARGN REPLACE "(.+)" " Row(\\1)" OUTPUT_VARIABLE rows)
  string(JOIN "" rows ${rows})
  file(CONFIGURE OUTPUT rows/${header} CONTENT "${text}#define ${macro}(Row)${rows}\n" @ONLY)
endfunction()

add_subdirectory(src/codegen/frame)
if(KERNPACK_BUILD_LLVM)
  add_subdirectory(src/codegen/llvm)
endif()
# All of it, and what it is linked with: one copy in each binary.
set(KERNPACK_SDK_OBJECTS $<TARGET_OBJECTS:kernpack_sdk_code> $<TARGET_OBJECTS:kernpack_sdk_programs>)
set(KERNPACK_SDK_LIBRARIES ${CMAKE_DL_LIBS})
if(TARGET kernpack_sdk_llvm)
  list(APPEND KERNPACK_SDK_OBJECTS $<TARGET_OBJECTS:kernpack_sdk_llvm>)
  list(APPEND KERNPACK_SDK_LIBRARIES ${KERNPACK_LLVM_LIBRARIES})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/src/codegen/llvm/kernpackLlvm.cmake DESTINATION ${KERNPACK_CMAKE_DIR})
else()
  target_sources(kernpack_sdk_code PRIVATE src/codegen/without_llvm.cc)
endif()
set(KERNPACK_SDK_OBJECTS ${KERNPACK_SDK_OBJECTS} PARENT_SCOPE)
set(KERNPACK_SDK_LIBRARIES ${KERNPACK_SDK_LIBRARIES} PARENT_SCOPE)

add_library(kernpack_sdk STATIC src/target/host_linked.cc ${KERNPACK_SDK_OBJECTS})
add_library(kernpack::sdk ALIAS kernpack_sdk)
set_target_properties(kernpack_sdk PROPERTIES EXPORT_NAME sdk)
target_include_directories(kernpack_sdk PRIVATE src PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                           $<INSTALL_INTERFACE:include>)
target_link_libraries(kernpack_sdk PUBLIC kernpack PRIVATE $<BUILD_INTERFACE:kernpack_shared> ${KERNPACK_SDK_LIBRARIES})
target_compile_features(kernpack_sdk PUBLIC cxx_std_20)
kernpack_warnings(kernpack_sdk)
install(TARGETS kernpack_sdk EXPORT kernpackTargets ARCHIVE DESTINATION lib)
install(DIRECTORY include/kernpack DESTINATION include FILES_MATCHING PATTERN "*.h")
