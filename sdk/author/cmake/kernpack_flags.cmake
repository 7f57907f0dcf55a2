# The flags a kernel module is compiled and linked with: the only place where they are written down. `kernpack config` and
# load_inline read this file.
set(KERNPACK_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# fno-gnu-unique: otherwise two modules share one copy of an inline variable, whatever RTLD_LOCAL says.
set(KERNPACK_COMPILE_FLAGS -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections)
set(KERNPACK_CXX_COMPILE_FLAGS -fvisibility-inlines-hidden)
set(KERNPACK_GNU_COMPILE_FLAGS -fno-gnu-unique)

# Once for each folder of sources or headers: errors name a file (__FILE__) from that folder on, so that a module holds no path of the
# machine that built it, and is the same wherever it was built. Debuggers look for sources where debug information says; so that
# keeps whole paths, except in wheels, which are debugged elsewhere.
set(KERNPACK_PREFIX_MAP_FLAG "-fmacro-prefix-map=@FOLDER@/=")
set(KERNPACK_WHEEL_PREFIX_MAP_FLAG "-fdebug-prefix-map=@FOLDER@=.")

# noseparate-code: code and constants share pages, as they did before binutils 2.31, which saves 4 KiB of padding a module.
# The no- forms: a -ffast-math that reached the link line would bring crtfastmath.o, which changes the floating-point state of the
# whole process that loads the module.
set(KERNPACK_LINK_FLAGS
    -fno-fast-math
    -fno-unsafe-math-optimizations
    -Wl,-z,now
    -Wl,-z,relro
    -Wl,-z,nodelete
    -Wl,-z,noseparate-code
    -Wl,-z,start-stop-visibility=hidden
    -Wl,--build-id=sha1
    -Wl,--as-needed
    -Wl,--gc-sections
    -Wl,--no-undefined
    -Wl,--exclude-libs,ALL)

# The same for Windows, by clang or zig. All code is position-independent there, the libraries of C++ become a part of the module, and
# dllexport alone says which symbols it exports. A link for wheels takes no debug information along, whose path would be in the module.
set(KERNPACK_WINDOWS_COMPILE_FLAGS -fvisibility=hidden -ffunction-sections -fdata-sections)
set(KERNPACK_WINDOWS_LINK_FLAGS -s -Wl,--gc-sections)

# The symbols that a module exports. A separate option for the linker: -Wl, would take a path apart at its commas.
set(KERNPACK_VERSION_SCRIPT_FLAGS -Xlinker "--version-script=${KERNPACK_CMAKE_DIR}/kernpack_module.map")

# The same against -Ofast, in commands that only link: one that compiles too would lose its author's -O1 or -O3 to it.
set(KERNPACK_LINK_ONLY_FLAGS -O2)

# Pins symbols that have a newer version in the build machine's C library to their oldest one.
set(KERNPACK_GLIBC_COMPAT_FLAGS "-include kernpack/glibc_compat.h")

# The support library (support/*.cc): what answers the aliases, and what keeps modules loadable by older systems. Small rather
# than fast; no exception passes through check.cc, which therefore needs no unwind tables.
set(KERNPACK_SUPPORT_DEFINITION KP_SUPPORT_LINKED)
set(KERNPACK_SUPPORT_FLAGS -Os)
set(KERNPACK_SUPPORT_CHECK_FLAGS -fno-exceptions -fno-asynchronous-unwind-tables)
