# How the provider chooses, with made-up installed packages and no network: see run.cmake.
foreach(
  case IN
  ITEMS takes_the_installed_package_that_fits
        passes_over_one_without_the_backend
        passes_over_one_that_is_too_new
        passes_over_one_whose_config_fails
        says_why_every_source_failed
        without_it_a_missing_backend_stops_the_build
        builds_again_where_native_means_another_machine
        looks_again_where_other_components_are_asked_for
        builds_for_cuda_without_another_launcher
        builds_and_installs_the_same_configuration
        says_that_brackets_are_patterns
        names_the_folder_that_it_cannot_write_to
        gives_old_sources_the_header_that_they_lack)
  add_test(
    NAME provider/${case}
    COMMAND
      ${CMAKE_COMMAND} -D CASE=${case} -D FOLDER=${CMAKE_CURRENT_BINARY_DIR}/provider/${case} -D
      COMPILER=${CMAKE_CXX_COMPILER} -D GENERATOR=${CMAKE_GENERATOR} -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
endforeach()
