# Warnings for coir's own sources. They are on where coir is the project that is built, and errors only where
# COIR_WARNINGS_AS_ERRORS says so, as .ci/run does: another compiler finds other things, and nobody's build should end for
# that. Headers of other packages are system headers, which aren't warned of. Nothing here changes what is compiled.
option(COIR_WARNINGS "Compile coir with warnings" ${PROJECT_IS_TOP_LEVEL})
option(COIR_WARNINGS_AS_ERRORS "Take warnings for errors" OFF)
if(Kokkos_DEVICES MATCHES "CUDA|HIP") # these compile code that their compilers wrote, too
  set(COIR_WARNINGS OFF)
endif()

set(coir_errors)
if(COIR_WARNINGS_AS_ERRORS)
  # What depends on the optimiser g++ 12 also sees where nothing is wrong.
  set(coir_errors
      -Werror
      -Wno-error=invalid-pch
      -Wno-error=maybe-uninitialized
      -Wno-error=array-bounds
      -Wno-error=stringop-overflow
      -Wno-error=stringop-overread
      -Wno-error=restrict
      -Wno-error=nonnull
      -Wno-error=free-nonheap-object
      -Wno-error=dangling-pointer
      -Wno-error=use-after-free)
endif()

# coir_warn(TARGET...): for libraries and applications
function(coir_warn)
  set(shadow -Wshadow)
  if(CMAKE_UNITY_BUILD) # one source's names aren't in another's way
    set(shadow)
  endif()
  set(warnings -Wall -Wextra ${shadow} -Wconversion -Wextra-semi -Wnon-virtual-dtor -Woverloaded-virtual)
  set(gnu_warnings ${warnings} ${coir_errors})
  set(clang_warnings ${warnings} -Wno-sign-conversion) # which Clang's -Wconversion has beside, and g++'s hasn't
  if(COIR_WARNINGS_AS_ERRORS) # libstdc++'s own std::stable_sort calls what is deprecated
    list(APPEND clang_warnings -Werror -Wno-error=deprecated-declarations)
  endif()
  if(COIR_WARNINGS)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${gnu_warnings}>"
                                               "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:${clang_warnings}>")
    endforeach()
  endif()
endfunction()

# For tests and benchmarks: everything in this folder and those added after this. Those are left out that googletest's macros and
# typed tests are full of: an expectation after an if, types of every case.
function(coir_warn_in_tests)
  set(warnings -Wall -Wextra -Wno-dangling-else -Wno-unused-local-typedefs ${coir_errors})
  if(COIR_WARNINGS)
    add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${warnings}>")
  endif()
endfunction()
