# coir_precompile(TARGET ...): target_precompile_headers, except where the compiler is nvcc or hipcc, which compile each
# source twice and can't start from a precompiled header. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON turns it off elsewhere.
function(coir_precompile target)
  if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()

# coir_precompile_alike(TARGET header...): the first target of the build with these headers and compile options compiles them,
# and those that follow start from what it made. The same options, for g++ 12 crashes on what others made.
function(coir_precompile_alike target)
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(CMAKE_BUILD_TYPE MATCHES "^(Release|Debug)$") # options of the other make no difference
    set(other Debug)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
      set(other Release)
    endif()
    string(REGEX REPLACE ";?\\$<\\$<CONFIG:${other}>:[^>]*>" "" options "${options}")
  endif()
  string(MD5 alike "${options};${ARGN}")
  get_property(first GLOBAL PROPERTY COIR_PRECOMPILES_${alike})
  if(first)
    coir_precompile(${target} REUSE_FROM ${first})
  else()
    coir_precompile(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY COIR_PRECOMPILES_${alike} ${target})
  endif()
endfunction()
