# kernpack_sha256: the header ffi/shared/sha256.h and what it needs of OpenSSL's static libcrypto, so that no library is needed
# at run time. Debian's package libssl-dev has both. -idirafter: the folder of this machine's headers also holds the C library's,
# which must not come before those of another compiler's target (zig.cmake).
if(WIN32) # the system has it
  add_library(kernpack_sha256 INTERFACE)
  target_include_directories(kernpack_sha256 INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/ffi)
  target_link_libraries(kernpack_sha256 INTERFACE bcrypt)
  return()
endif()
find_library(KERNPACK_LIBCRYPTO libcrypto.a HINTS ${KERNPACK_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
find_path(KERNPACK_OPENSSL_INCLUDE openssl/sha.h HINTS ${KERNPACK_SYSROOT}/usr/include)
find_path(KERNPACK_OPENSSL_CONFIGURATION openssl/configuration.h HINTS ${KERNPACK_SYSROOT}/usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
if(NOT KERNPACK_LIBCRYPTO OR NOT KERNPACK_OPENSSL_INCLUDE OR NOT KERNPACK_OPENSSL_CONFIGURATION)
  message(FATAL_ERROR "Digests need OpenSSL 3's headers and static library: apt-get install libssl-dev")
endif()
add_library(kernpack_sha256 INTERFACE)
target_include_directories(kernpack_sha256 INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/ffi)
target_compile_options(kernpack_sha256 INTERFACE "SHELL:-idirafter \"${KERNPACK_OPENSSL_INCLUDE}\""
                                                 "SHELL:-idirafter \"${KERNPACK_OPENSSL_CONFIGURATION}\"")
target_link_libraries(kernpack_sha256 INTERFACE ${KERNPACK_LIBCRYPTO})
