# coir_precompile_alike(TARGET LIBRARY header): starts a program's sources from a precompiled Kokkos and LIBRARY's header. Those with the
# same compile options share one, which has a library of its own, without what one of them defines for itself. The same options, for
# g++ 12 crashes on what others made.
function(coir_precompile_alike target library header)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(CMAKE_BUILD_TYPE MATCHES "^(Release|Debug)$") # options of the other make no difference
    set(other Debug)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
      set(other Release)
    endif()
    string(REGEX REPLACE ";?\\$<\\$<CONFIG:${other}>:[^>]*>" "" options "${options}")
  endif()
  string(MD5 alike "${options};${library}")
  string(SUBSTRING ${alike} 0 8 alike)
  set(headers coir_precompiled_${alike})
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/nothing.cpp CONTENT "")
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nothing.cpp)
    set_target_properties(${headers} PROPERTIES COMPILE_OPTIONS "${options}" UNITY_BUILD OFF)
    target_link_libraries(${headers} PRIVATE coir::core ${library})
    target_precompile_headers(${headers} PRIVATE <Kokkos_Core.hpp> ${header})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# coir_precompile(TARGET ...): target_precompile_headers
macro(coir_precompile)
  target_precompile_headers(${ARGN})
endmacro()
