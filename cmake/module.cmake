# One function a module's CMakeLists.txt calls, so that all modules are built, checked and installed alike.

set_property(GLOBAL PROPERTY COIR_MODULES "")

# coir_add_module(NAME HEADERS file... [SOURCES file...] [LINK target...] [LINK_PRIVATE target...])
#
# Makes coir_NAME with the alias coir::NAME. HEADERS are relative to include/coir/NAME, SOURCES to src/NAME; without
# SOURCES there is nothing to compile, and LINK_PRIVATE has no meaning.
function(coir_add_module name)
  cmake_parse_arguments(module "" "" "HEADERS;SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  set(target coir_${name})
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM module_HEADERS PREPEND ${include_dir}/coir/${name}/)

  if(module_SOURCES)
    set(scope PUBLIC)
    add_library(${target} ${module_SOURCES})
    target_link_libraries(${target} PRIVATE ${module_LINK_PRIVATE})
    set_target_properties(
      ${target}
      PROPERTIES CXX_EXTENSIONS OFF
                 POSITION_INDEPENDENT_CODE ON
                 VERSION ${PROJECT_VERSION}
                 SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(coir::${name} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${include_dir} FILES ${module_HEADERS})
  target_link_libraries(${target} ${scope} ${module_LINK})
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  set_property(GLOBAL APPEND PROPERTY COIR_MODULES ${name})
endfunction()

# coir::coir, which links every module that was built.
function(coir_add_umbrella)
  get_property(modules GLOBAL PROPERTY COIR_MODULES)
  add_library(coir_coir INTERFACE)
  add_library(coir::coir ALIAS coir_coir)
  set_target_properties(coir_coir PROPERTIES EXPORT_NAME coir)
  foreach(module IN LISTS modules)
    target_link_libraries(coir_coir INTERFACE coir_${module})
  endforeach()
endfunction()
