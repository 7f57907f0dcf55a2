# cmake -DTREE=<out> -DSOURCE=<bindings> -P: links the Python files of each binding into one package tree.
function(link_package from to)
  file(GLOB_RECURSE files RELATIVE ${from} ${from}/*.py ${from}/*.pyi ${from}/py.typed)
  foreach(file IN LISTS files)
    get_filename_component(folder ${to}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${from}/${file} ${to}/${file} SYMBOLIC)
  endforeach()
endfunction()

get_filename_component(SOURCE ${SOURCE} ABSOLUTE)
file(REMOVE_RECURSE ${TREE}) # a deleted source file must not linger
link_package(${SOURCE}/python/kernpack ${TREE})
link_package(${SOURCE}/torch/kernpack_torch ${TREE}/torch)
link_package(${SOURCE}/jax/kernpack_jax ${TREE}/jax)
