# kernpack_unit_of_each_folder(<target> [<folder>]): with KERNPACK_UNITY the target's files in one folder, of those right below
# <folder> (or this one), are compiled as one. So which files share a unit does not change when another folder gets a file. CMake
# leaves apart the files that have definitions or options of their own.
function(kernpack_unit_of_each_folder target)
  set(bases ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
  list(POP_BACK bases base)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${base} ${source})
    set(folder files)
    if(path MATCHES "^([^./][^/]*)/")
      set(folder ${CMAKE_MATCH_1})
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KERNPACK_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
