# kernpack::sdk: the IR and its passes and generators. A static library over libkernpack's C table.
file(GLOB_RECURSE KERNPACK_SDK_SOURCES CONFIGURE_DEPENDS src/*.cc)
add_library(kernpack_sdk STATIC ${KERNPACK_SDK_SOURCES})
add_library(kernpack::sdk ALIAS kernpack_sdk)
set_target_properties(kernpack_sdk PROPERTIES EXPORT_NAME sdk)
target_include_directories(kernpack_sdk PRIVATE src PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                           $<INSTALL_INTERFACE:include>)
target_link_libraries(kernpack_sdk PUBLIC kernpack_headers)
target_compile_features(kernpack_sdk PUBLIC cxx_std_20)
kernpack_warnings(kernpack_sdk)
install(TARGETS kernpack_sdk EXPORT kernpackTargets ARCHIVE DESTINATION lib)
install(DIRECTORY include/kernpack DESTINATION include FILES_MATCHING PATTERN "*.h")
