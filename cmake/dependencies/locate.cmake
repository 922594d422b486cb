# Points <package>_DIR at a package that fits, made if need be, or explains why there is none.
#
# Each source is a function coir_from_<source>(package dir why). It sets `dir` to the folder of the package's
# config file, or to nothing, and `why` to a sentence about what was taken or why this source can't serve.
function(coir_locate package)
  coir_request_fingerprint(${package} fingerprint)
  if("$CACHE{COIR_LOCATED_${package}}" STREQUAL "${fingerprint} ${${package}_DIR}"
     AND EXISTS "${${package}_DIR}/${package}Config.cmake")
    return() # found by an earlier configure run of this build tree, or an earlier call in this one
  endif()
  if("$CACHE{COIR_LOCATED_${package}}" MATCHES " (.*)$")
    if("${${package}_DIR}" STREQUAL "${CMAKE_MATCH_1}") # a test of its own: the match is expanded before an if
      unset(${package}_DIR CACHE) # our own choice, made for other settings
    endif()
  endif()
  unset(COIR_LOCATED_${package} CACHE)

  set(tried "")
  foreach(source IN ITEMS installed named_source built_earlier release debian)
    cmake_language(CALL coir_from_${source} ${package} dir why)
    if(dir)
      message(STATUS "${package}: ${why}")
      foreach(reason IN LISTS tried)
        message(STATUS "  and not ${reason}")
      endforeach()
      set(${package}_DIR "${dir}" CACHE PATH "Folder of ${package}Config.cmake" FORCE)
      set(COIR_LOCATED_${package} "${fingerprint} ${dir}" CACHE INTERNAL "")
      return()
    endif()
    string(REPLACE ";" "," why "${why}") # one item of the list, whatever it says
    list(APPEND tried "${why}")
  endforeach()

  list(JOIN tried "\n  - " tried)
  coir_required_features(features)
  list(JOIN features ", " features)
  set(sources "unpack its source and that of Kokkos Kernels, and name both: -DFETCHCONTENT_SOURCE_DIR_KOKKOS=<folder> "
              "-DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=<folder>")
  if(package STREQUAL "KokkosKernels")
    set(sources "unpack its source and name it: -DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=<folder>")
  endif()
  string(CONCAT sources ${sources})
  set(mode STATUS)
  if("REQUIRED" IN_LIST ARGN)
    set(mode FATAL_ERROR)
    set(${package}_FOUND TRUE PARENT_SCOPE) # so that find_package adds no second error to this one
  endif()
  message(
    ${mode}
    "No ${package} with ${features} could be had. Tried:\n  - ${tried}\n"
    "Remedy, one of (by 'cmake --preset <name> -D...', also before a workflow, which takes no -D):\n"
    "  - install ${package} with ${features} (version ${COIR_KOKKOS_MINIMUM} or newer, below ${COIR_KOKKOS_LIMIT}) "
    "and name its prefix: -D${package}_ROOT=<prefix>\n"
    "  - ${sources}\n"
    "  - make one of the download sources above reachable and configure again")
endfunction()
