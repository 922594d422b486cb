# g++ searches its memory for what it can use again, whenever that has grown by some hundred megabytes: 6 to 9 % of its time.
if(PROJECT_IS_TOP_LEVEL AND NOT COIR_BY_NVCC)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=262144>")
endif()

# Kokkos and nlohmann-json take g++ 3 s in each source, and nvcc 9 s, more than most sources' own lines. So the sources of a
# library or application are compiled as one. PLAIN, the default for hosts, leaves the modules' kernels for hosts (x_host.cpp) and
# the applications' main.cpp by themselves, because g++ inlines less in large sources. With NONE less is compiled again after a change.
set(coir_join_default PLAIN)
if(COIR_BY_NVCC)
  set(coir_join_default ALL)
endif()
set(COIR_JOIN_SOURCES ${coir_join_default} CACHE STRING "Which sources of a library or application are compiled as one: ALL, PLAIN, NONE")
set_property(CACHE COIR_JOIN_SOURCES PROPERTY STRINGS ALL PLAIN NONE)
if(COIR_JOIN_SOURCES MATCHES "^(ON|OFF|TRUE|FALSE|0|1)$") # of a build tree from before there were three ways
  set_property(CACHE COIR_JOIN_SOURCES PROPERTY VALUE ${coir_join_default})
endif()
if(NOT COIR_JOIN_SOURCES MATCHES "^(ALL|PLAIN|NONE)$")
  message(FATAL_ERROR "COIR_JOIN_SOURCES is ALL, PLAIN or NONE, not '${COIR_JOIN_SOURCES}'")
endif()
mark_as_advanced(COIR_JOIN_SOURCES)

# coir_join_sources(TARGET [APART source...]): joins its sources into one (CMake's UNITY_BUILD), without those named APART unless all are
# joined. The names of a folder's sources must not collide, which scripts/tidy.py, too, relies on.
function(coir_join_sources target)
  if(COIR_JOIN_SOURCES STREQUAL "NONE")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 join "" "" "APART")
  get_target_property(sources ${target} SOURCES)
  if(join_APART AND COIR_JOIN_SOURCES STREQUAL "PLAIN")
    list(REMOVE_ITEM sources ${join_APART})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP all)
  if(COIR_WARNINGS) # one source's names aren't in another's way
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wno-shadow>)
  endif()
endfunction()

# coir_kernels_apart(TARGET SOURCES): where nvcc compiles many of SOURCES for the device, takes them out of the list and joins them in a
# library of objects beside TARGET, so that two cores compile it. Kernels are optimised as everywhere; -O2 is for the host code that
# launches them, and takes nvcc less time than -O3. By -O1 g++ inlines few small functions: a plain Jacobi sweep took the host a third
# longer to launch, and sweeps of 400 x 266 cells on an H100 took 14 to 30 % longer than by -O2. Functions that both libraries
# instantiate may be taken from
# either by the linker: mesh and nbody are compiled without contraction, so that bits don't depend on it.
function(coir_kernels_apart target sources)
  set(device_sources ${${sources}})
  list(FILTER device_sources INCLUDE REGEX "_device\\.cpp$")
  list(LENGTH device_sources count)
  if(COIR_BY_NVCC AND COIR_JOIN_SOURCES STREQUAL "ALL" AND count GREATER 4)
    list(REMOVE_ITEM ${sources} ${device_sources})
    list(TRANSFORM device_sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/device_kernels device_kernels)
    list(APPEND ${sources} $<TARGET_OBJECTS:${target}_device>)
    set(${sources} "${${sources}}" PARENT_SCOPE)
  endif()
endfunction()

# coir_plain_sources(TARGET [OPTIMISED] source...): further sources of TARGET, which include no Kokkos. They are the same in every
# build, and where nvcc compiles what links Kokkos, g++ alone compiles them, which takes half of the time, and by -O1 unless they
# are OPTIMISED.
function(coir_plain_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 plain "OPTIMISED" "" "")
  set(sources ${plain_UNPARSED_ARGUMENTS})
  if(NOT COIR_BY_NVCC)
    target_sources(${target} PRIVATE ${sources})
  elseif(sources)
    add_library(${target}_plain OBJECT ${sources})
    target_include_directories(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_features(${target}_plain PRIVATE cxx_std_20)
    if(NOT plain_OPTIMISED)
      target_compile_options(${target}_plain PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    set_target_properties(${target}_plain PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    coir_join_sources(${target}_plain)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_plain>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# coir_compile_quickly(): for folders without loops that take time, which compilers needn't optimise long: text by -O1 takes g++ half
# of what it takes by -O3.
macro(coir_compile_quickly)
  if(COIR_BY_NVCC) # whose wrapper takes one -O
    string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  elseif(NOT Kokkos_DEVICES MATCHES "CUDA|HIP") # others would optimise kernels less, too
    add_compile_options($<$<CONFIG:Release>:-O1>)
    set(COIR_COMPILES_QUICKLY ON)
  endif()
endmacro()
