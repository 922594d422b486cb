# Sets coir_names to the names that this compiler, with the flags of this project, gives in object files to a function whose template
# parameters have constraints, as those compiled in coir's libraries have. Clang names the constraints there since version 18 and g++
# since 14. Included by coir's own build and by coirConfig.cmake, which compares: where the names differ, programs don't link.
function(coir_find_names)
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/coir_names")
  file(WRITE "${folder}/names.cpp"
       "template <class T> concept Small = sizeof(T) < 8;\n"
       "template <Small T, int N> requires(N > 0) void coir_constrained(T) {}\n"
       "template void coir_constrained<int, 1>(int);\n")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  unset(coir_compiled CACHE)
  try_compile(coir_compiled "${folder}" SOURCES "${folder}/names.cpp" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON COPY_FILE "${folder}/names.a")
  set(names "")
  if(coir_compiled)
    file(STRINGS "${folder}/names.a" names REGEX "coir_constrained")
    string(REGEX MATCH "_Z[0-9A-Za-z_]*coir_constrained[0-9A-Za-z_]*" names "${names}")
  endif()
  unset(coir_compiled CACHE)
  set(coir_names "${names}" PARENT_SCOPE)
endfunction()
coir_find_names()
