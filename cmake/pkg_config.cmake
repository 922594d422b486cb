# Writes coir-<module>.pc for each module, for projects that aren't built by CMake: g++ -std=c++20 main.cpp $(pkg-config --cflags
# --libs coir-poisson). Included by install.cmake. Not for GPUs: no list of flags turns a compiler for hosts into one for them.

# coir_pkg_flags(LINKED_ONLY ITEM...): appends what each ITEM, of a target's INTERFACE_LINK_LIBRARIES, asks of those who link it, to cflags
# and libs: by itself, and by all that it links. Of a module only its name is appended, to requires.
function(coir_pkg_flags linked_only)
  foreach(item IN LISTS ARGN)
    set(only ${linked_only})
    if(item MATCHES "^\\$<LINK_ONLY:(.*)>$")
      set(item ${CMAKE_MATCH_1})
      set(only ON)
    endif()
    if(item MATCHES "^coir_([a-z0-9]+)$")
      list(APPEND requires coir-${CMAKE_MATCH_1})
    elseif(TARGET ${item})
      get_target_property(type ${item} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        get_target_property(location ${item} LOCATION)
        list(APPEND libs ${location})
      endif()
      coir_pkg_property(${item} INTERFACE_LINK_OPTIONS "" options)
      list(APPEND libs ${options})
      if(NOT only)
        coir_pkg_property(${item} INTERFACE_INCLUDE_DIRECTORIES -I folders)
        coir_pkg_property(${item} INTERFACE_COMPILE_DEFINITIONS -D definitions)
        coir_pkg_property(${item} INTERFACE_COMPILE_OPTIONS "" options)
        list(APPEND cflags ${folders} ${definitions} ${options})
      endif()
      coir_pkg_property(${item} INTERFACE_LINK_LIBRARIES "" links)
      coir_pkg_flags(${only} ${links})
    elseif(item MATCHES "^[-/$]")
      list(APPEND libs ${item})
    else()
      list(APPEND libs -l${item})
    endif()
  endforeach()
  foreach(list IN ITEMS requires cflags libs)
    set(${list} ${${list}} PARENT_SCOPE)
  endforeach()
endfunction()

# A property that is a list, with MARK before each. What is for C++ alone is for all here.
function(coir_pkg_property target property mark result)
  get_target_property(values ${target} ${property})
  if(NOT values)
    set(values "")
  endif()
  string(REGEX REPLACE "\\$<\\$<(COMPILE_LANGUAGE|LINK_LANGUAGE):CXX>:([^>]*)>" "\\2" values "${values}")
  list(TRANSFORM values PREPEND "${mark}")
  list(REMOVE_ITEM values -I/usr/include) # which would hide the headers that compilers put before it
  set(${result} ${values} PARENT_SCOPE)
endfunction()

function(coir_install_pkg_config module)
  set(requires "")
  set(cflags "-I\${includedir}")
  set(libs "")
  get_target_property(type coir_${module} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(libs "-L\${libdir}" -lcoir_${module})
  endif()
  coir_pkg_property(coir_${module} INTERFACE_COMPILE_OPTIONS "" options)
  coir_pkg_property(coir_${module} INTERFACE_LINK_LIBRARIES "" links)
  coir_pkg_flags(OFF ${links})
  list(APPEND cflags ${options})
  # Each as one line, with the folders of the prefix by their variable. Of what comes twice the last is kept, for linkers look for the
  # functions that a static library calls in those after it.
  foreach(list IN ITEMS requires cflags libs)
    foreach(package IN ITEMS Kokkos KokkosKernels)
      if(coir_${package}_beside)
        cmake_path(SET built NORMALIZE "${${package}_DIR}/../../..")
        string(REPLACE "${built}" "\${prefix}/" ${list} "${${list}}")
      endif()
    endforeach()
    list(REVERSE ${list})
    list(REMOVE_DUPLICATES ${list})
    list(REVERSE ${list})
    list(JOIN ${list} " " ${list})
  endforeach()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
  file(
    GENERATE
    OUTPUT ${PROJECT_BINARY_DIR}/coir-${module}.pc
    CONTENT "prefix=\${pcfiledir}/${up}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: coir-${module}
Description: ${PROJECT_DESCRIPTION} (module ${module})
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: ${cflags}
Libs: ${libs}
"
    TARGET coir_${module})
  install(FILES ${PROJECT_BINARY_DIR}/coir-${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
  foreach(module IN LISTS coir_modules)
    coir_install_pkg_config(${module})
  endforeach()
endif()
