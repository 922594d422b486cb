# Sets coir_names to the names that this compiler, with the flags of this project, gives in object files to a function whose template
# parameters have constraints, as those compiled in coir's libraries have. Clang names the constraints there since version 18 and g++
# since 14. Included by coir's own build and by coirConfig.cmake, which compares: where the names differ, programs don't link.
set(coir_names_of "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS}")
if(NOT "${COIR_NAMES_OF}" STREQUAL "${coir_names_of}")
  set(coir_names_folder "${CMAKE_BINARY_DIR}/CMakeFiles/coir_names")
  file(WRITE "${coir_names_folder}/names.cpp"
       "template <class T> concept Small = sizeof(T) < 8;\n"
       "template <Small T, int N> requires(N > 0) void coir_constrained(T) {}\n"
       "template void coir_constrained<int, 1>(int);\n")
  set(coir_target_type "${CMAKE_TRY_COMPILE_TARGET_TYPE}")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(
    coir_names_compiled "${coir_names_folder}"
    SOURCES "${coir_names_folder}/names.cpp"
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    COPY_FILE "${coir_names_folder}/names.a")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE "${coir_target_type}")
  set(coir_names "")
  if(coir_names_compiled)
    file(STRINGS "${coir_names_folder}/names.a" coir_names REGEX "coir_constrained")
    string(REGEX MATCH "_Z[0-9A-Za-z_]*coir_constrained[0-9A-Za-z_]*" coir_names "${coir_names}")
  endif()
  set(COIR_NAMES "${coir_names}" CACHE INTERNAL "Names of constrained functions by this compiler")
  set(COIR_NAMES_OF "${coir_names_of}" CACHE INTERNAL "What they are the names of")
  unset(coir_names_compiled CACHE)
endif()
set(coir_names "${COIR_NAMES}")
