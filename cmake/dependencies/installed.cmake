# An installed package. It is looked at from a separate small project (probe/), so that an unfit one leaves no
# imported targets behind in this build.
function(coir_from_installed package dir why)
  set(${dir} "" PARENT_SCOPE)
  coir_required_features(features)
  set(ignored "${CMAKE_IGNORE_PREFIX_PATH}")
  set(unfit "")
  # An unfit one may hide a fit one further down the search path: leave its prefix out and look again.
  foreach(attempt RANGE 7)
    coir_probe_installed(${package} "${ignored}" "${unfit}" found version devices options message)
    if(NOT found OR found IN_LIST unfit)
      break()
    endif()
    file(REAL_PATH "${found}" real)
    if(NOT real IN_LIST unfit) # /lib may be a link to /usr/lib
      coir_unfit_because(${package} "${found}" "${version}" "${devices}" "${options}" "${message}"
                         "${features}" reason)
      if(NOT reason)
        if(NOT version)
          set(version "not stated")
        endif()
        set(${dir} "${found}" PARENT_SCOPE)
        set(${why} "installed package in ${found} (version ${version})" PARENT_SCOPE)
        return()
      endif()
      list(APPEND reasons "${found}: ${reason}")
    endif()
    list(APPEND unfit "${found}" "${real}")
    coir_prefix_of("${found}" prefix)
    list(APPEND ignored "${prefix}")
  endforeach()
  if(reasons)
    list(JOIN reasons ", " reasons)
    set(${why} "installed package: ${reasons}" PARENT_SCOPE)
  else()
    set(${why} "installed package: none found" PARENT_SCOPE)
  endif()
endfunction()

# Sets `reason` to why an installed package can't be used, or to nothing.
function(coir_unfit_because package found version devices options message features reason)
  set(${reason} "" PARENT_SCOPE)
  list(REMOVE_ITEM features ${devices} ${options})
  if(message)
    set(${reason} "its config file fails (${message})" PARENT_SCOPE)
  elseif(version AND (version VERSION_LESS COIR_KOKKOS_MINIMUM OR version VERSION_GREATER_EQUAL COIR_KOKKOS_LIMIT))
    set(${reason} "version ${version} is not in ${COIR_KOKKOS_MINIMUM}...<${COIR_KOKKOS_LIMIT}" PARENT_SCOPE)
  elseif(package STREQUAL "Kokkos" AND features)
    list(JOIN features ", " features)
    list(JOIN devices ", " devices)
    set(${reason} "version ${version} lacks ${features} (its backends: ${devices})" PARENT_SCOPE)
  elseif(package STREQUAL "KokkosKernels")
    coir_kernels_unfit_because("${found}" "${version}" because)
    set(${reason} "${because}" PARENT_SCOPE)
  endif()
endfunction()

# Kokkos Kernels must be of Kokkos' version, and built against this very Kokkos: its config file names that
# one, or lies beside it.
function(coir_kernels_unfit_because found version because)
  set(${because} "" PARENT_SCOPE)
  file(READ "${found}/KokkosKernelsConfig.cmake" config)
  string(FIND "${config}" "${Kokkos_DIR}" named)
  cmake_path(GET found PARENT_PATH folder)
  cmake_path(GET Kokkos_DIR PARENT_PATH kokkos_folder)
  if(version AND NOT version VERSION_EQUAL Kokkos_VERSION)
    set(${because} "version ${version}, but Kokkos is ${Kokkos_VERSION}" PARENT_SCOPE)
  elseif(named EQUAL -1 AND NOT folder STREQUAL kokkos_folder)
    set(${because} "built with another Kokkos than ${Kokkos_DIR}" PARENT_SCOPE)
  endif()
endfunction()

# /usr/lib/x86_64-linux-gnu/cmake/Kokkos -> /usr
function(coir_prefix_of config_dir result)
  string(REGEX REPLACE "/(lib|lib64|share|cmake)(/.*)?$" "" prefix "${config_dir}")
  if(NOT prefix)
    set(prefix "/")
  endif()
  set(${result} "${prefix}" PARENT_SCOPE)
endfunction()

# Runs probe/ and reads what it wrote.
function(coir_probe_installed package ignored unfit found version devices options message)
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/coir_probe/${package}")
  file(REMOVE_RECURSE "${folder}")
  file(MAKE_DIRECTORY "${folder}")
  set(cache "set(COIR_PROBE_PACKAGE ${package} CACHE STRING \"\")\n")
  string(APPEND cache "set(CMAKE_IGNORE_PREFIX_PATH [==[${ignored}]==] CACHE STRING \"\")\n")
  set(forwarded
      CMAKE_PREFIX_PATH
      CMAKE_FIND_ROOT_PATH
      CMAKE_TOOLCHAIN_FILE
      CMAKE_CXX_COMPILER
      CMAKE_MAKE_PROGRAM
      Kokkos_ROOT
      KokkosKernels_ROOT
      CUDAToolkit_ROOT)
  if(NOT "${${package}_DIR}" IN_LIST unfit)
    list(APPEND forwarded ${package}_DIR)
  endif()
  if(package STREQUAL "KokkosKernels")
    list(APPEND forwarded Kokkos_DIR)
  endif()
  foreach(variable IN LISTS forwarded)
    if(${variable})
      string(APPEND cache "set(${variable} [==[${${variable}}]==] CACHE STRING \"\")\n")
    endif()
  endforeach()
  file(WRITE "${folder}/settings.cmake" "${cache}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -C "${folder}/settings.cmake" -S
            "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/probe" -B "${folder}/build"
    OUTPUT_FILE "${folder}/log.txt"
    ERROR_VARIABLE errors
    RESULT_VARIABLE failed)
  # The cache has the folder even if the config file stopped with an error.
  set(probed_dir "")
  set(probed_version "")
  set(probed_devices "")
  set(probed_options "")
  file(STRINGS "${folder}/build/CMakeCache.txt" entry REGEX "^${package}_DIR:")
  if(entry MATCHES "=(/.*)$")
    set(probed_dir "${CMAKE_MATCH_1}")
  endif()
  include("${folder}/build/found.cmake" OPTIONAL)
  set(text "")
  if(failed)
    string(REGEX REPLACE "[ \n]+" " " text "${errors}")
    string(SUBSTRING "${text}" 0 200 text)
  endif()
  set(${found} "${probed_dir}" PARENT_SCOPE)
  set(${version} "${probed_version}" PARENT_SCOPE)
  set(${devices} "${probed_devices}" PARENT_SCOPE)
  set(${options} "${probed_options}" PARENT_SCOPE)
  set(${message} "${text}" PARENT_SCOPE)
endfunction()
