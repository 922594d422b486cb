# The target 'docs': a site of the pages and the reference of the public headers, with a search of all its text that needs
# no server: build/<preset>/html/index.html. Doxygen reads the headers, cmake/site/reference.py writes their pages, and Sphinx
# the site from these and those of the tree. A warning is an error, and so are a link that leads nowhere and a page that the
# menu, cmake/site/menu.md, leaves out.
find_package(Doxygen REQUIRED)
find_program(COIR_SPHINX_BUILD NAMES sphinx-build DOC "Sphinx (Debian and Ubuntu: scripts/setup.sh --docs)" REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
mark_as_advanced(COIR_SPHINX_BUILD)

set(coir_site_xml ${CMAKE_CURRENT_BINARY_DIR}/site/headers)
set(DOXYGEN_OUTPUT_DIRECTORY ${coir_site_xml})
set(DOXYGEN_GENERATE_HTML NO)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_GENERATE_XML YES)
set(DOXYGEN_XML_PROGRAMLISTING NO)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_FILE_PATTERNS *.hpp)
set(DOXYGEN_EXCLUDE_PATTERNS */detail/*)
set(DOXYGEN_EXCLUDE_SYMBOLS *::detail detail::*)
# The first sentence of a comment is its summary.
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
# What its name says needs no comment: it is listed all the same, and its absence is no warning.
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)
# Kokkos' markers of device functions are no part of an interface, and macros that define functions are shown as these.
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED KOKKOS_FUNCTION= KOKKOS_INLINE_FUNCTION=inline KOKKOS_FORCEINLINE_FUNCTION=inline
                       KOKKOS_VERSION=40702 COIR_CALLS_WHAT_IT_IS_GIVEN= COIR_COMPILED_ONCE= COIR_PURE=)
file(GLOB_RECURSE coir_headers ${PROJECT_SOURCE_DIR}/include/*.hpp)
set(DOXYGEN_EXPAND_AS_DEFINED "")
foreach(header IN LISTS coir_headers)
  file(STRINGS ${header} lines REGEX "^#define COIR_[A-Z_0-9]+[(]")
  list(TRANSFORM lines REPLACE "^#define (COIR_[A-Z_0-9]+).*" "\\1")
  list(APPEND DOXYGEN_EXPAND_AS_DEFINED ${lines})
endforeach()
list(FILTER DOXYGEN_EXPAND_AS_DEFINED EXCLUDE REGEX "_ON_|BYTES|STRIDED|VECTOR")
list(REMOVE_DUPLICATES DOXYGEN_EXPAND_AS_DEFINED)
doxygen_add_docs(coir_headers_read include WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Reading the headers")

set(coir_site_pages ${CMAKE_CURRENT_BINARY_DIR}/site/pages)
set(coir_site_html ${CMAKE_CURRENT_BINARY_DIR}/html)
add_custom_target(
  docs
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${coir_site_html} # pages of earlier runs that are gone now would be followed as well
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/site/collect.py ${PROJECT_SOURCE_DIR} ${coir_site_pages}
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/site/reference.py ${PROJECT_SOURCE_DIR} ${coir_site_xml}/xml
          ${coir_site_pages}/reference
  COMMAND ${CMAKE_COMMAND} -E env COIR_VERSION=${PROJECT_VERSION} ${COIR_SPHINX_BUILD} -W --keep-going -q -j auto -b html -c ${PROJECT_SOURCE_DIR}/cmake/site ${coir_site_pages}
          ${coir_site_html}
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/check_links.py ${coir_site_html}
  COMMENT "Writing the site"
  VERBATIM)
add_dependencies(docs coir_headers_read)
