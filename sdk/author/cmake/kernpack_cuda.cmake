# kernpack_cuda_(<target> <source>...): how the .cu files of a module are compiled. Reads KP_CUDA_ARCHITECTURES, the caller's argument,
# and KERNPACK_CUDA_ARCHITECTURES, which `kernpack build --cuda-arch` sets and which goes before it.
#
# For each architecture (80, 90, 90a) there is machine code. PTX, which the driver compiles for a device when it loads it, is there of
# the lowest one, the floor: every device from it on runs the module, also those between the listed ones (9.0 of 80 and 100). And of the
# highest one, so that devices newer than all get its code and not the floor's; both come from compilations that are made anyway.
# Architectures with a letter are for their own devices (90a) or family (100f) alone, so their PTX would be no floor.
function(kernpack_cuda_ target)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(NOT sources)
    if(KP_CUDA_ARCHITECTURES)
      message(FATAL_ERROR "kernpack_add_module(${target}): CUDA_ARCHITECTURES is for .cu files, and there is none in SOURCES")
    endif()
    return()
  endif()
  # A module that needed libcudart would work with one version of CUDA, and only where that is installed.
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  if(NOT "$ENV{KERNPACK_EMULATOR}" STREQUAL "")
    kernpack_cuda_emulated_(${target})
  endif()
  set(cuda $<COMPILE_LANGUAGE:CUDA>)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${target} PRIVATE "$<${cuda}:--compress-mode=size>")
  else() # before, that mode asked for a newer driver than the code itself
    target_compile_options(${target} PRIVATE "$<${cuda}:-Xfatbin=-compress-all>")
  endif()
  # Two builds give the same file: nvcc puts the names of its temporary files and random numbers into symbols.
  target_compile_options(${target} PRIVATE "$<${cuda}:--objdir-as-tempdir>")
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.4)
    foreach(source IN LISTS sources)
      get_filename_component(path ${source} ABSOLUTE)
      file(RELATIVE_PATH seed ${CMAKE_SOURCE_DIR} ${path})
      get_source_file_property(own ${source} COMPILE_OPTIONS)
      if(NOT own MATCHES "-frandom-seed=") # by another target of the same source
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "--frandom-seed=${seed}")
      endif()
    endforeach()
  endif()
  set(architectures ${KP_CUDA_ARCHITECTURES})
  if(KERNPACK_CUDA_ARCHITECTURES)
    set(architectures ${KERNPACK_CUDA_ARCHITECTURES})
  endif()
  if(architectures)
    kernpack_cuda_code_(options ${target} ${architectures})
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF)
    target_compile_options(${target} PRIVATE ${options})
  endif()
endfunction()

# For the emulated device, whose library has the runtime library too: NVIDIA's calls the system's driver only.
function(kernpack_cuda_emulated_ target)
  set(library "$ENV{KERNPACK_CUDA_DRIVER}")
  if(NOT library)
    set(python python3)
    if(Python_EXECUTABLE)
      set(python ${Python_EXECUTABLE})
    endif()
    execute_process(
      COMMAND ${python} -c "from kernpack import _emulated; print(_emulated.library('kernpack_add_module(${target})'))"
      OUTPUT_VARIABLE library
      ERROR_VARIABLE error
      OUTPUT_STRIP_TRAILING_WHITESPACE
      RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
      string(REGEX REPLACE "^.*\n([A-Za-z]+: )" "" error "${error}")
      message(FATAL_ERROR "${error}")
    endif()
  endif()
  get_filename_component(folder ${library} DIRECTORY)
  message(STATUS "${target}: KERNPACK_EMULATOR is set: linked for the emulated CUDA device, not for others")
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None BUILD_RPATH ${folder} INSTALL_RPATH ${folder})
  target_link_libraries(${target} PRIVATE ${library})
endfunction()

# The options of nvcc for these architectures.
function(kernpack_cuda_code_ result target)
  set(plain "")
  foreach(architecture IN LISTS ARGN)
    if(NOT architecture MATCHES "^[0-9][0-9]+[af]?$")
      message(FATAL_ERROR "kernpack_add_module(${target}): CUDA_ARCHITECTURES: expected compute capabilities without the dot, such as "
                          "80 90 90a, got '${architecture}'")
    endif()
    if(architecture MATCHES "^[0-9]+$")
      list(APPEND plain ${architecture})
    endif()
  endforeach()
  list(SORT plain COMPARE NATURAL)
  set(with_ptx "")
  if(plain)
    list(GET plain 0 lowest)
    list(GET plain -1 highest)
    set(with_ptx ${lowest} ${highest})
  endif()
  set(options "")
  foreach(architecture IN LISTS ARGN)
    set(code sm_${architecture})
    if(architecture IN_LIST with_ptx)
      string(APPEND code ",compute_${architecture}")
    endif()
    list(APPEND options "$<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_${architecture},code=[${code}]>")
  endforeach()
  set(${result}
      ${options}
      PARENT_SCOPE)
endfunction()
