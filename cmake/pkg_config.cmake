# Writes coir-<module>.pc for each module, for projects that aren't built by CMake: g++ -std=c++20 main.cpp $(pkg-config --cflags
# --libs coir-poisson). Included by install.cmake. Not for GPUs: no list of flags turns a compiler for hosts into one for them.

# coir_pkg_flags(ITEM LINKED_ONLY): appends what ITEM, of a target's INTERFACE_LINK_LIBRARIES, asks of those who link it, to coir_pkg_cflags
# and coir_pkg_libs: by itself, and by all that it links. Of a module only its name is appended, to coir_pkg_requires.
function(coir_pkg_flags item linked_only)
  if(item MATCHES "^\\$<LINK_ONLY:(.*)>$")
    set(item ${CMAKE_MATCH_1})
    set(linked_only ON)
  endif()
  if(item MATCHES "^coir_([a-z0-9]+)$")
    list(APPEND coir_pkg_requires coir-${CMAKE_MATCH_1})
  elseif(TARGET ${item})
    coir_pkg_location(${item} location)
    coir_pkg_property(${item} INTERFACE_LINK_OPTIONS "" options)
    list(APPEND coir_pkg_libs ${location} ${options})
    if(NOT linked_only)
      coir_pkg_property(${item} INTERFACE_INCLUDE_DIRECTORIES -I folders)
      coir_pkg_property(${item} INTERFACE_COMPILE_DEFINITIONS -D definitions)
      coir_pkg_property(${item} INTERFACE_COMPILE_OPTIONS "" options)
      list(APPEND coir_pkg_cflags ${folders} ${definitions} ${options})
    endif()
    coir_pkg_property(${item} INTERFACE_LINK_LIBRARIES "" links)
    foreach(link IN LISTS links)
      coir_pkg_flags("${link}" ${linked_only})
    endforeach()
  elseif(item MATCHES "^[-/$]")
    list(APPEND coir_pkg_libs ${item})
  else()
    list(APPEND coir_pkg_libs -l${item})
  endif()
  foreach(list IN ITEMS requires cflags libs)
    set(coir_pkg_${list} ${coir_pkg_${list}} PARENT_SCOPE)
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

# The file of an imported library, or nothing.
function(coir_pkg_location target result)
  set(${result} "" PARENT_SCOPE)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(property IN ITEMS IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION IMPORTED_LOCATION_${configurations})
      get_target_property(location ${target} ${property})
      if(location)
        set(${result} ${location} PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
endfunction()

# As one line, with the folders of the prefix by their variable. Of what comes twice the last is kept, for linkers look for the functions
# that a static library calls in those after it.
function(coir_pkg_line result)
  set(flags "${ARGN}")
  foreach(package IN ITEMS Kokkos KokkosKernels)
    if(coir_${package}_beside)
      cmake_path(SET built NORMALIZE "${${package}_DIR}/../../..")
      string(REPLACE "${built}" "\${prefix}/" flags "${flags}")
    endif()
  endforeach()
  list(REVERSE flags)
  list(REMOVE_DUPLICATES flags)
  list(REVERSE flags)
  list(JOIN flags " " flags)
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

function(coir_install_pkg_config module)
  set(coir_pkg_requires "")
  set(coir_pkg_cflags "-I\${includedir}")
  set(coir_pkg_libs "")
  get_target_property(type coir_${module} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(coir_pkg_libs "-L\${libdir}" -lcoir_${module})
  endif()
  coir_pkg_property(coir_${module} INTERFACE_COMPILE_OPTIONS "" options)
  coir_pkg_property(coir_${module} INTERFACE_LINK_LIBRARIES "" links)
  foreach(link IN LISTS links)
    coir_pkg_flags("${link}" OFF)
  endforeach()
  coir_pkg_line(requires ${coir_pkg_requires})
  string(REPLACE " " ", " requires "${requires}")
  coir_pkg_line(cflags ${coir_pkg_cflags} ${options})
  coir_pkg_line(libs ${coir_pkg_libs})
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
