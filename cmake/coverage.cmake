# The target 'coverage' of the preset that has its name: writes which lines the tests ran since the build as pages,
# build/coverage/coverage/index.html.
find_program(COIR_GCOVR gcovr DOC "gcovr, which makes the pages (Debian: gcovr)" REQUIRED)
set(coir_coverage_pages ${PROJECT_BINARY_DIR}/coverage)
file(MAKE_DIRECTORY ${coir_coverage_pages})
add_custom_target(
  coverage
  COMMAND ${COIR_GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/include/ --filter
          ${PROJECT_SOURCE_DIR}/src/ --filter ${PROJECT_SOURCE_DIR}/apps/ --exclude-throw-branches
          --html-details ${coir_coverage_pages}/index.html --print-summary ${PROJECT_BINARY_DIR}
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  VERBATIM USES_TERMINAL)
