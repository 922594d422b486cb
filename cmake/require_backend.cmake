# Stops when the Kokkos that was found lacks what was asked for. An installed Kokkos has its backends built in and
# ignores Kokkos_ENABLE_*, so without this check a "cuda" build can silently run on the host.
set(coir_required ${COIR_REQUIRE_BACKEND})
get_cmake_property(coir_cache_variables CACHE_VARIABLES)
foreach(coir_variable IN LISTS coir_cache_variables)
  if(coir_variable MATCHES "^Kokkos_ENABLE_(.+)$" AND "$CACHE{${coir_variable}}")
    list(APPEND coir_required ${CMAKE_MATCH_1})
  endif()
endforeach()

foreach(coir_feature IN LISTS coir_required)
  if(NOT coir_feature IN_LIST Kokkos_DEVICES
     AND NOT coir_feature IN_LIST Kokkos_OPTIONS
     AND NOT coir_feature IN_LIST Kokkos_TPLS)
    list(JOIN Kokkos_DEVICES ", " coir_devices)
    message(
      FATAL_ERROR
        "${coir_feature} was asked for, but Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} was built without it "
        "(its backends: ${coir_devices}).\n"
        "Remedy, one of:\n"
        "  - name a Kokkos that has it: -DKokkos_ROOT=<prefix>\n"
        "  - use a preset (cmake --list-presets), which builds one where none is installed\n"
        "  - configure for a backend it has: -DCOIR_REQUIRE_BACKEND=<backend>")
  endif()
endforeach()

# Kokkos runs on a device if it has one, else on the host's threads, else on one core.
if(COIR_REQUIRE_BACKEND STREQUAL "SERIAL" AND NOT "${Kokkos_DEVICES}" STREQUAL "SERIAL")
  message(STATUS "This Kokkos has more backends than SERIAL (${Kokkos_DEVICES}): programs use the widest by default")
endif()

unset(coir_required)
unset(coir_cache_variables)
unset(coir_variable)
unset(coir_feature)
unset(coir_devices)
