# One function a module's CMakeLists.txt calls, so that all modules are built, checked and installed alike.

set_property(GLOBAL PROPERTY COIR_MODULES "")

# coir_add_module(NAME HEADERS file... [SOURCES file...] [LINK target...] [LINK_PRIVATE target...])
#
# Makes coir_NAME with the alias coir::NAME. HEADERS are relative to include/coir/NAME, SOURCES to src/NAME.
function(coir_add_module name)
  cmake_parse_arguments(module "" "" "HEADERS;SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  set(target coir_${name})
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM module_HEADERS PREPEND ${include_dir}/coir/${name}/)

  add_library(${target} ${module_SOURCES})
  add_library(coir::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${include_dir} FILES ${module_HEADERS})
  target_link_libraries(${target} PUBLIC ${module_LINK} PRIVATE ${module_LINK_PRIVATE})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${name}
               CXX_EXTENSIONS OFF
               POSITION_INDEPENDENT_CODE ON
               VERIFY_INTERFACE_HEADER_SETS ON
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
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
