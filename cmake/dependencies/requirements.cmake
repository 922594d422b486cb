# What is asked of Kokkos: the backend of COIR_REQUIRE_BACKEND, and each Kokkos_ENABLE_<X>=ON of the cache
# (an installed Kokkos ignores those, so they have to be compared with what it says it has).
function(coir_required_features result)
  set(features ${COIR_REQUIRE_BACKEND})
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name IN LISTS names)
    if(name MATCHES "^Kokkos_ENABLE_(.+)$" AND "$CACHE{${name}}")
      list(APPEND features ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES features)
  set(${result} ${features} PARENT_SCOPE)
endfunction()

# The Kokkos_ENABLE_* and Kokkos_ARCH_* of the cache, as NAME=VALUE, in a fixed order.
function(coir_kokkos_settings result)
  get_cmake_property(names CACHE_VARIABLES)
  list(FILTER names INCLUDE REGEX "^Kokkos_(ENABLE|ARCH)_[A-Z0-9_]+$")
  list(SORT names)
  set(settings "")
  foreach(name IN LISTS names)
    list(APPEND settings "${name}=$CACHE{${name}}")
  endforeach()
  set(${result} "${settings}" PARENT_SCOPE)
endfunction()

# A digest of every setting that decides where a package comes from: when it changes, the search starts again.
function(coir_request_fingerprint package result)
  string(TOUPPER ${package} upper)
  coir_kokkos_settings(settings)
  set(text "${settings}")
  foreach(
    variable IN
    ITEMS ${package}_ROOT
          CMAKE_PREFIX_PATH
          FETCHCONTENT_SOURCE_DIR_${upper}
          COIR_REQUIRE_BACKEND
          COIR_DEPS_DIR
          CMAKE_CXX_COMPILER
          CMAKE_CXX_FLAGS
          BUILD_SHARED_LIBS
          CMAKE_TOOLCHAIN_FILE)
    string(APPEND text "\n${variable}=${${variable}} $ENV{${variable}}")
  endforeach()
  if(package STREQUAL "KokkosKernels")
    coir_find_openblas(openblas)
    string(APPEND text "\n${Kokkos_DIR}\n${openblas}\n${COIR_KOKKOS_KERNELS_COMPONENTS}")
  endif()
  string(MD5 digest "${text}")
  set(${result} ${digest} PARENT_SCOPE)
endfunction()
