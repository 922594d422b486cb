# The target 'docs': a site of the pages and the reference of the public headers, with a search of its own that needs no
# server: build/<preset>/html/index.html. A warning is an error, and so is a link that leads nowhere.
find_package(Doxygen REQUIRED)
find_package(Python3 COMPONENTS Interpreter)
set(DOXYGEN_PROJECT_BRIEF "${PROJECT_DESCRIPTION}")
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_FILE_PATTERNS *.hpp *.md)
set(DOXYGEN_EXCLUDE_PATTERNS */detail/* */apps/*.hpp */bench/*.hpp */bench/threads/table.md)
set(DOXYGEN_EXCLUDE_SYMBOLS *::detail)
set(DOXYGEN_FILTER_PATTERNS *.md=${CMAKE_CURRENT_LIST_DIR}/doxygen/page.sh)
set(DOXYGEN_IMAGE_PATH docs apps/compare apps/field apps/jacobi apps/offload apps/queue)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_HAVE_DOT NO)
# What its name says needs no comment: it is listed all the same, and its absence is no warning.
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)
# Kokkos' markers of device functions are no part of an interface.
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED KOKKOS_FUNCTION= KOKKOS_INLINE_FUNCTION=inline KOKKOS_FORCEINLINE_FUNCTION=inline
                       KOKKOS_VERSION=40702)

# How the site looks: a menu at the left, and a theme that distributions have, without which the site looks as Doxygen's
# do.
set(DOXYGEN_LAYOUT_FILE ${CMAKE_CURRENT_LIST_DIR}/doxygen/layout.xml)
set(DOXYGEN_GENERATE_TREEVIEW YES)
set(DOXYGEN_HTML_EXTRA_FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
                              ${PROJECT_SOURCE_DIR}/apps/jacobi/coffee.png ${PROJECT_SOURCE_DIR}/docs/comparison.html
                              ${PROJECT_SOURCE_DIR}/docs/comparison.json)
file(GLOB coir_example_files ${PROJECT_SOURCE_DIR}/docs/examples/[0-9]*.cpp
     ${PROJECT_SOURCE_DIR}/docs/examples/[0-9]*.py)
list(APPEND DOXYGEN_HTML_EXTRA_FILES ${coir_example_files})
find_path(COIR_DOXYGEN_THEME doxygen-awesome-sidebar-only.css PATHS /usr/share/doxygen-awesome-css
          DOC "Folder of doxygen-awesome's style sheets (Debian: doxygen-awesome-css)")
mark_as_advanced(COIR_DOXYGEN_THEME)
if(COIR_DOXYGEN_THEME)
  set(DOXYGEN_HTML_EXTRA_STYLESHEET ${COIR_DOXYGEN_THEME}/doxygen-awesome.css
                                    ${COIR_DOXYGEN_THEME}/doxygen-awesome-sidebar-only.css)
endif()

doxygen_add_docs(
  docs
  include
  docs
  apps
  bench
  README.md
  CHANGELOG.md
  CONTRIBUTING.md
  SECURITY.md
  packaging/README.md
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing the site")
# Pages of earlier runs that are gone now would be followed as well.
add_custom_target(docs_empty COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_CURRENT_BINARY_DIR}/html)
add_dependencies(docs docs_empty)
if(Python3_FOUND)
  add_custom_command(
    TARGET docs
    POST_BUILD
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/check_links.py ${CMAKE_CURRENT_BINARY_DIR}/html)
endif()
