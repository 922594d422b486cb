# coir_add_tests(MODULE [FAST name...] [UNOPTIMISED name...] [EXCEPT name...]): every NAME_test.cpp of this folder is a
# test (coir_add_test): in every build, if it is FAST or nothing is, or else in builds of all tests. EXCEPT names those
# that are added by themselves, with other options.
function(coir_add_tests module)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "" "FAST;UNOPTIMISED;EXCEPT")
  file(GLOB names RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *_test.cpp)
  list(TRANSFORM names REPLACE "_test[.]cpp$" "")
  list(REMOVE_ITEM names ${tests_EXCEPT})
  foreach(name IN LISTS names)
    set(tier ALL)
    if(NOT tests_FAST OR name IN_LIST tests_FAST)
      set(tier)
    endif()
    set(optimised)
    if(name IN_LIST tests_UNOPTIMISED)
      set(optimised UNOPTIMISED)
    endif()
    coir_add_test(${module} ${name} ${tier} ${optimised})
  endforeach()
endfunction()

# coir_add_on_threads(NAME TEST FILTER number...): those tests of the program TEST that FILTER matches, on so many threads each, which may
# be more than there are cores. Threads that wait sleep, or else they seem to work.
function(coir_add_on_threads name test filter)
  if(TARGET ${test})
    foreach(threads IN LISTS ARGN)
      add_test(NAME ${name}_${threads}_threads COMMAND ${test} --gtest_filter=${filter})
      set_tests_properties(${name}_${threads}_threads PROPERTIES LABELS unit PROCESSORS 2 ENVIRONMENT
                           "OMP_NUM_THREADS=${threads};OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")
    endforeach()
  endif()
endfunction()
