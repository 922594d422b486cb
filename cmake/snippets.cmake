# Compiles and runs the C++ of a page: what it shows can't fall behind the library.
#
# coir_add_snippets(PAGE): each ```cpp block of PAGE (a path from the top of the project) becomes a function of its own
# and a test, named by the heading above it. `expect(condition);` in a block is checked. Lines of #include apply to the
# whole page. A block with `int main` is a program of its own, whose test is that it ends with 0. The modules
# are linked whose headers are included; blocks that include one that isn't built are left out.
#
# Lists are avoided where text of the page is handled: its semicolons would split them.
function(coir_add_snippets page)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(READ ${PROJECT_SOURCE_DIR}/${page} rest)
  get_filename_component(name ${page} NAME_WE)
  string(TOLOWER ${name} name)
  set(target ${name}_snippets_test)
  set(opening "\n```cpp\n")
  set(heading "page")
  set(includes "")
  set(functions "")
  set(modules "")
  set(line 1)
  set(number 0)

  string(FIND "${rest}" "${opening}" at)
  while(at GREATER_EQUAL 0)
    # The text before the block: its last heading, and its lines.
    string(SUBSTRING "${rest}" 0 ${at} before)
    _coir_count_lines("${before}${opening}" lines)
    math(EXPR line "${line} + ${lines}")
    string(FIND "${before}" "\n#" title REVERSE)
    if(title GREATER_EQUAL 0)
      string(SUBSTRING "${before}" ${title} -1 title)
      string(REGEX REPLACE "^\n#+ ([^\n]*).*" "\\1" title "${title}")
      string(TOLOWER "${title}" title)
      string(REGEX REPLACE "[^a-z0-9]+" " " title "${title}")
      string(STRIP "${title}" title)
      string(REPLACE " " "_" heading "${title}")
    endif()

    string(LENGTH "${opening}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\n```\n" at)
    if(at LESS 0)
      message(FATAL_ERROR "${page}: the block of C++ at line ${line} has no end")
    endif()
    string(SUBSTRING "${rest}" 0 ${at} block)
    string(SUBSTRING "${rest}" ${at} -1 rest)

    math(EXPR number "${number} + 1")
    _coir_modules_of("${block}" used built)
    if(built AND block MATCHES "int main\\(")
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}_program_${number}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#line ${line} \"${page}\"\n@block@\n" @ONLY)
      add_executable(${name}_program_${number} ${source})
      target_link_libraries(${name}_program_${number} PRIVATE ${used})
      add_test(NAME docs/${name}/program_${number} COMMAND ${name}_program_${number})
      set_tests_properties(docs/${name}/program_${number} PROPERTIES LABELS unit ENVIRONMENT OMP_NUM_THREADS=2
                                                                     PROCESSORS 2)
    elseif(built)
      list(APPEND modules ${used})
      string(REGEX MATCHALL "#include [^\n]*" block_includes "${block}")
      string(REPLACE ";" "\n" block_includes "${block_includes}")
      string(APPEND includes "${block_includes}\n")
      string(REGEX REPLACE "#include [^\n]*" "" block "${block}")
      # Not static: nvcc takes KOKKOS_LAMBDA in functions that other files could call only.
      string(APPEND functions "void ${name}_${heading}_${number}() {\n#line ${line} \"${page}\"\n${block}\n}\n"
             "TEST(Snippets_${name}, ${heading}_${number}) { ${name}_${heading}_${number}(); }\n\n")
    endif()
    _coir_count_lines("${block}" lines)
    math(EXPR line "${line} + ${lines}")
    string(FIND "${rest}" "${opening}" at)
  endwhile()

  if(NOT functions STREQUAL "")
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
         "// Made from ${page} by cmake/snippets.cmake.\n@includes@\n#include <gtest/gtest.h>\n
#define expect(...) EXPECT_TRUE((__VA_ARGS__))\n\n@functions@")
    add_executable(${target} ${source})
    list(REMOVE_DUPLICATES modules)
    target_link_libraries(${target} PRIVATE ${modules} coir_test_support)
    # A page shows how a value is made, and needn't use it.
    set_source_files_properties(
      ${source} PROPERTIES COMPILE_OPTIONS
                           "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-unused-variable;-Wno-unused-but-set-variable>")
    coir_precompile_alike(${target} GTest::gtest <gtest/gtest.h>)
    gtest_discover_tests(
      ${target}
      TEST_PREFIX docs/
      DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS unit ENVIRONMENT OMP_NUM_THREADS=2 PROCESSORS 2)
  endif()
endfunction()

function(_coir_count_lines text result)
  string(LENGTH "${text}" with)
  string(REPLACE "\n" "" text "${text}")
  string(LENGTH "${text}" without)
  math(EXPR lines "${with} - ${without}")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# The targets of the modules whose headers a block includes, and whether all are built.
function(_coir_modules_of block targets built)
  set(found coir::core)
  set(all TRUE)
  string(REGEX MATCHALL "#include <coir/[a-z0-9]+/" includes "${block}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE ".*coir/([a-z0-9]+)/" "coir::\\1" module "${include}")
    if(TARGET ${module})
      list(APPEND found ${module})
    else()
      set(all FALSE)
    endif()
  endforeach()
  set(${targets} ${found} PARENT_SCOPE)
  set(${built} ${all} PARENT_SCOPE)
endfunction()
