# kernpack::sdk: targets, virtual devices, the IR with its passes and generators. A static library over libkernpack's C table.
file(GLOB_RECURSE KERNPACK_SDK_SOURCES CONFIGURE_DEPENDS src/*.cc)
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/host_linked\\.cc$")
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/src/device/") # plugins of their own
list(FILTER KERNPACK_SDK_SOURCES EXCLUDE REGEX "/src/(codegen/llvm|codegen/frame|export)/") # in the plugin that has LLVM inside
# Objects, for who brings a host of its own (the Python extension); with the linked host they make the library.
add_library(kernpack_sdk_objects OBJECT ${KERNPACK_SDK_SOURCES})
target_include_directories(kernpack_sdk_objects PRIVATE src PUBLIC include)
target_link_libraries(kernpack_sdk_objects PUBLIC kernpack_headers)
target_compile_features(kernpack_sdk_objects PUBLIC cxx_std_20)
kernpack_warnings(kernpack_sdk_objects)
set_target_properties(kernpack_sdk_objects PROPERTIES UNITY_BUILD ${KERNPACK_UNITY} UNITY_BUILD_BATCH_SIZE 24)

# Generators hand the machine's compilers the headers that modules include.
set(KERNPACK_AUTHOR_INCLUDE ${CMAKE_CURRENT_SOURCE_DIR}/../ffi/include)
file(GLOB_RECURSE KERNPACK_AUTHOR_HEADERS CONFIGURE_DEPENDS ${KERNPACK_AUTHOR_INCLUDE}/kernpack/*.h)
set(KERNPACK_HEADER_TEXTS "")
foreach(header IN LISTS KERNPACK_AUTHOR_HEADERS)
  file(RELATIVE_PATH path ${KERNPACK_AUTHOR_INCLUDE} ${header})
  file(READ ${header} text)
  string(APPEND KERNPACK_HEADER_TEXTS "    {\"${path}\", R\"kernpack_header(${text})kernpack_header\"},\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNPACK_AUTHOR_HEADERS})
configure_file(src/codegen/author_headers.cc.in ${CMAKE_CURRENT_BINARY_DIR}/author_headers.cc @ONLY)
target_sources(kernpack_sdk_objects PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/author_headers.cc)

# kernpack_write_rows_(<header> <macro> <text> <item>...): a header with that text, and a macro that gives its argument each item.
function(kernpack_write_rows_ header macro text)
  list(TRANSFORM ARGN REPLACE "(.+)" " Row(\\1)" OUTPUT_VARIABLE rows)
  string(JOIN "" rows ${rows})
  file(CONFIGURE OUTPUT rows/${header} CONTENT "${text}#define ${macro}(Row)${rows}\n" @ONLY)
endfunction()

add_subdirectory(src/codegen/frame)

add_library(kernpack_sdk STATIC src/target/host_linked.cc $<TARGET_OBJECTS:kernpack_sdk_objects>)
add_library(kernpack::sdk ALIAS kernpack_sdk)
set_target_properties(kernpack_sdk PROPERTIES EXPORT_NAME sdk)
target_include_directories(kernpack_sdk PRIVATE src PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                           $<INSTALL_INTERFACE:include>)
target_link_libraries(kernpack_sdk PUBLIC kernpack)
target_compile_features(kernpack_sdk PUBLIC cxx_std_20)
kernpack_warnings(kernpack_sdk)
install(TARGETS kernpack_sdk EXPORT kernpackTargets ARCHIVE DESTINATION lib)
install(DIRECTORY include/kernpack DESTINATION include FILES_MATCHING PATTERN "*.h")
