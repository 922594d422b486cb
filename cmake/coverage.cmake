# Which lines the tests run: COIR_COVERAGE=ON, which the preset 'coverage' sets, counts them, and the target 'coverage'
# writes what was counted since the build as pages, build/coverage/coverage/index.html. GCC only.
option(COIR_COVERAGE "Count which lines run, for the target 'coverage' (GCC, gcovr)" OFF)
if(NOT COIR_COVERAGE)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "COIR_COVERAGE needs GCC, not ${CMAKE_CXX_COMPILER_ID}: configure a fresh folder with "
                      "-D CMAKE_CXX_COMPILER=g++")
endif()
find_program(COIR_GCOVR gcovr DOC "gcovr, which makes the pages (Debian: gcovr)" REQUIRED)
mark_as_advanced(COIR_GCOVR)
add_compile_options(--coverage -fprofile-update=atomic) # counted by several threads
add_link_options(--coverage)

set(coir_coverage_pages ${PROJECT_BINARY_DIR}/coverage)
file(MAKE_DIRECTORY ${coir_coverage_pages})
add_custom_target(
  coverage
  COMMAND ${COIR_GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/include/ --filter
          ${PROJECT_SOURCE_DIR}/src/ --filter ${PROJECT_SOURCE_DIR}/apps/ --exclude-throw-branches
          --html-details ${coir_coverage_pages}/index.html --print-summary ${PROJECT_BINARY_DIR}
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  COMMENT "Writing ${coir_coverage_pages}/index.html"
  VERBATIM USES_TERMINAL)
