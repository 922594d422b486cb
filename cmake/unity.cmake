# How sources are joined and optimised, for compilers' time.

# g++ searches its memory for what it can use again, whenever that has grown by some hundred megabytes: 6 to 9 % of its time.
if(PROJECT_IS_TOP_LEVEL AND NOT COIR_BY_NVCC)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=262144>")
endif()

# The presets join the sources of each library (CMAKE_UNITY_BUILD), so that Kokkos and nlohmann-json are compiled once for all of
# them: their names must not collide, which scripts/tidy.py, too, relies on.

# coir_keep_apart(SOURCE...): sources with kernels, which g++ compiles by themselves where it optimises, because it inlines less in large
# sources.
function(coir_keep_apart)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT COIR_BY_NVCC)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# coir_kernels_apart(TARGET SOURCES): where nvcc compiles many of SOURCES for the device, takes them out of the list, for a library of
# objects beside TARGET, so that two cores compile it. Kernels are optimised as everywhere; -O2 is for the host code that
# launches them, and takes nvcc less time than -O3. Functions that both libraries instantiate may be taken from
# either by the linker: mesh and nbody are compiled without contraction, so that bits don't depend on it.
function(coir_kernels_apart target sources)
  set(device_sources ${${sources}})
  list(FILTER device_sources INCLUDE REGEX "_device\\.cpp$")
  list(LENGTH device_sources count)
  if(COIR_BY_NVCC AND CMAKE_UNITY_BUILD AND count GREATER 4)
    list(REMOVE_ITEM ${sources} ${device_sources})
    list(TRANSFORM device_sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/device_kernels device_kernels)
    list(APPEND ${sources} $<TARGET_OBJECTS:${target}_device>)
    set(${sources} "${${sources}}" PARENT_SCOPE)
  endif()
endfunction()

# coir_plain_sources(TARGET source...): further sources of TARGET, which include no Kokkos. Where nvcc compiles what links
# Kokkos, g++ alone compiles these, which takes half of the time.
function(coir_plain_sources target)
  if(NOT COIR_BY_NVCC)
    target_sources(${target} PRIVATE ${ARGN})
  elseif(ARGN)
    add_library(${target}_plain OBJECT ${ARGN})
    target_include_directories(${target}_plain PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
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
  endif()
endmacro()
