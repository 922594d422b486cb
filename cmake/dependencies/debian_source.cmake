# The distribution's source package: Debian and Ubuntu carry Kokkos and Kokkos Kernels inside that of Trilinos.
# debian_source.sh fetches it, without root and without touching the system's own apt state.
function(coir_from_debian package dir why)
  set(${dir} "" PARENT_SCOPE)
  coir_upstream_name(${package} name)
  coir_fetch_debian_source(reason)
  if(NOT reason)
    coir_build_source(${package} "${COIR_DEPS_DIR}/source/trilinos/${name}" "" built reason)
    set(${dir} "${built}" PARENT_SCOPE)
  endif()
  set(${why} "distribution's source package trilinos: ${reason}" PARENT_SCOPE)
endfunction()

# Sets `reason` to what went wrong, or to nothing.
function(coir_fetch_debian_source reason)
  set(${reason} "" PARENT_SCOPE)
  find_program(apt_get apt-get NO_CACHE)
  if(NOT apt_get)
    set(${reason} "there is no apt-get on this system" PARENT_SCOPE)
    return()
  endif()
  coir_lock_deps()
  set(source "${COIR_DEPS_DIR}/source/trilinos")
  if(EXISTS "${source}")
    return()
  endif()
  message(STATUS "Downloading the source package trilinos from the distribution's archive (166 MB)")
  execute_process(
    COMMAND sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/debian_source.sh" trilinos "${source}" packages/kokkos
            packages/kokkos-kernels
    OUTPUT_QUIET
    ERROR_VARIABLE errors
    RESULT_VARIABLE failed
    TIMEOUT 900)
  if(failed)
    string(STRIP "${errors}" errors)
    string(REGEX REPLACE "\n+" " " errors "${errors}")
    set(${reason} "${errors}" PARENT_SCOPE)
    file(REMOVE_RECURSE "${source}.part")
  endif()
endfunction()
