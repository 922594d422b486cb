# nvcc takes 8 s for what a file includes before it comes to coir's own lines, and can't start from a precompiled header, as g++
# does. With sanitizers the same templates of the standard library, CLI11 and nlohmann-json take longest, which each source of
# an application instantiates again.
option(COIR_JOIN_SOURCES "Compile the sources of each library and application as one" ${COIR_BY_NVCC})
mark_as_advanced(COIR_JOIN_SOURCES)

# coir_join_sources(TARGET): joins its sources (CMake's UNITY_BUILD) into one, except that those for the device, if there are
# several, are joined among themselves, four at most, for they take longest, and several cores share them. The names of a
# folder's sources must not collide, which scripts/tidy.py, too, relies on.
function(coir_join_sources target)
  if(NOT COIR_JOIN_SOURCES)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP all)
  if(COIR_WARNINGS) # one source's names aren't in another's way
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-shadow>)
  endif()
  list(FILTER sources INCLUDE REGEX "_device\\.cpp$")
  list(LENGTH sources count)
  if(count GREATER 1)
    math(EXPR groups "(${count} + 3) / 4")
    set(place 0)
    foreach(source IN LISTS sources)
      math(EXPR group "${place} * ${groups} / ${count}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP device_${group})
    endforeach()
  endif()
endfunction()

# coir_plain_sources(TARGET source...): further sources of TARGET, which include no Kokkos. They are the same in every build, and
# where nvcc compiles what links Kokkos, g++ alone compiles them, which takes half of the time.
function(coir_plain_sources target)
  if(NOT COIR_BY_NVCC)
    target_sources(${target} PRIVATE ${ARGN})
  elseif(ARGN)
    add_library(${target}_plain OBJECT ${ARGN})
    target_include_directories(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_features(${target}_plain PRIVATE cxx_std_20)
    set_target_properties(${target}_plain PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    coir_join_sources(${target}_plain)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_plain>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()
