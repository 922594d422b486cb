# coir_precompile(TARGET ...): target_precompile_headers, except where the compiler is nvcc or hipcc, which compile each
# source twice and can't start from a precompiled header. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON turns it off elsewhere.
function(coir_precompile target)
  if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()
