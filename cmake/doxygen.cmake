# The target 'docs': the reference of the public headers and the pages of docs/, as HTML. A warning is an error.
find_package(Doxygen REQUIRED)
set(DOXYGEN_PROJECT_BRIEF "${PROJECT_DESCRIPTION}")
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/include)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_FILE_PATTERNS *.hpp *.md)
set(DOXYGEN_EXCLUDE_PATTERNS */detail/* */apps/*.hpp */bench/*.hpp)
set(DOXYGEN_EXCLUDE_SYMBOLS *::detail)
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
doxygen_add_docs(
  docs
  include
  docs
  apps
  bench
  README.md
  CHANGELOG.md
  CONTRIBUTING.md
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing the reference")
