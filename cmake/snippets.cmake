# Compiles and runs the C++ of a page: what it shows can't fall behind the library.
#
# coir_add_snippets(PAGE [RANKS number...]): each ```cpp block of PAGE (a path from the top of the project) becomes a function of its own
# and a test, named by its line. `expect(condition);` in a block is checked. Lines of #include apply to the whole
# page. A block with `int main` is a program of its own, whose test is that it ends with 0. The modules
# are linked whose headers are included; blocks that include one that isn't built are left out.
# With RANKS the blocks of a page run on so many ranks, and `world` is the group of these.
#
# Lists are avoided where text of the page is handled: its semicolons would split them.
function(coir_add_snippets page)
  cmake_parse_arguments(PARSE_ARGV 1 page "" "" "RANKS")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(READ ${PROJECT_SOURCE_DIR}/${page} text)
  cmake_path(GET page STEM name)
  string(TOLOWER ${name} name)
  set(target ${name}_snippets_test)
  set(functions "")
  set(page_includes "")
  set(before_blocks "")
  set(support coir_test_support)
  if(page_RANKS)
    set(page_includes "#include <support/ranks.hpp>\n")
    set(before_blocks "[[maybe_unused]] auto const world = coir::testing::world();\n")
    set(support coir_ranks_test_support)
  endif()
  set(modules coir::core)
  set(begin 0)
  while(TRUE)
    string(SUBSTRING "${text}" ${begin} -1 rest)
    string(FIND "${rest}" "\n```cpp\n" at)
    if(at LESS 0)
      break()
    endif()
    math(EXPR begin "${begin} + ${at} + 8")
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(REGEX REPLACE "[^\n]+" "" newlines "${before}")
    string(LENGTH "${newlines}" line)
    math(EXPR line "${line} + 1")
    string(SUBSTRING "${text}" ${begin} -1 block)
    string(FIND "${block}" "\n```\n" at)
    string(SUBSTRING "${block}" 0 ${at} block)

    string(REGEX MATCHALL "#include [^\n]*" includes "${block}")
    string(REGEX REPLACE "/(fft|linalg)\\.hpp" "/ coir/\\1/" headers "${includes}") # <coir/autodiff/fft.hpp> is of both
    string(REGEX MATCHALL "coir/[a-z0-9]+/" used "${headers}")
    list(TRANSFORM used REPLACE "coir/(.*)/" "coir::\\1")
    list(JOIN includes "\n" includes)
    set(built TRUE)
    foreach(module IN LISTS used)
      if(NOT TARGET ${module})
        set(built FALSE)
      endif()
    endforeach()
    if(built AND block MATCHES "int main\\(")
      set(program ${name}_program_${line})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${program}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#line ${line} \"${page}\"\n@block@\n" @ONLY)
      add_executable(${program} ${source})
      target_link_libraries(${program} PRIVATE ${used})
      add_test(NAME docs/${name}/program_${line} COMMAND ${program})
      set_tests_properties(docs/${name}/program_${line} PROPERTIES LABELS unit ENVIRONMENT OMP_NUM_THREADS=2 PROCESSORS 2)
    elseif(built)
      list(APPEND modules ${used})
      string(REGEX REPLACE "#include [^\n]*" "" block "${block}")
      # Not static: nvcc takes KOKKOS_LAMBDA in functions that other files could call only.
      string(APPEND page_includes "${includes}\n")
      string(APPEND functions "void ${name}_${line}() {\n${before_blocks}#line ${line} \"${page}\"\n${block}\n}\n"
             "TEST(Snippets_${name}, line_${line}) { ${name}_${line}(); }\n\n")
    endif()
  endwhile()

  if(functions)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
         "@page_includes@#include <gtest/gtest.h>\n#define expect(...) EXPECT_TRUE((__VA_ARGS__))\n\n@functions@")
    add_executable(${target} ${source})
    list(REMOVE_DUPLICATES modules)
    target_link_libraries(${target} PRIVATE ${modules} ${support})
    # A page shows how a value is made, and needn't use it.
    set_source_files_properties(
      ${source} PROPERTIES COMPILE_OPTIONS
                           "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-unused-variable;-Wno-unused-but-set-variable>")
    if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP") # they are about what is said, not about how fast
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
    endif()
    coir_precompile_alike(${target} GTest::gtest <gtest/gtest.h>)
    if(page_RANKS)
      coir_run_on_ranks(${target} docs/${name} RANKS ${page_RANKS})
      return()
    endif()
    gtest_discover_tests(
      ${target}
      TEST_PREFIX docs/
      DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS unit ENVIRONMENT OMP_NUM_THREADS=2 PROCESSORS 2)
  endif()
endfunction()
