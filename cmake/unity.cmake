# coir_join_sources(TARGET): nvcc takes 2 to 7 s for what a file includes before it comes to coir's own lines, and can't start
# from a precompiled header, as g++ does. Where it compiles, the sources of a target are therefore joined into
# one (CMake's UNITY_BUILD), except those that are instantiated for the device: they take longest, and several cores share them.
# The names of a folder's sources must not collide, which scripts/tidy.py, too, relies on.
function(coir_join_sources target)
  if(COIR_BY_NVCC)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "_device\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
