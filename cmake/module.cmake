# One function a module's CMakeLists.txt calls, so that all modules are built, checked and installed alike.

set_property(GLOBAL PROPERTY COIR_MODULES "")

# coir_add_module(NAME HEADERS file... [SOURCES file...] [INSTANTIATE name...] [DEVICE_SOURCES file...]
#                 [LINK target...] [LINK_PRIVATE target...] [PRECOMPILED_WITH module])
#
# Makes coir_NAME with the alias coir::NAME. HEADERS are relative to include/coir/NAME, the others to src/NAME.
#   SOURCES         are compiled once, for hosts.
#   INSTANTIATE     x: src/NAME/x_impl.hpp, which defines COIR_INSTANTIATE_X(Exec) in no namespace, is compiled for
#                   each of the execution spaces that coir::CompiledSpace lets in, as x_host.cpp and x_device.cpp.
#   DEVICE_SOURCES  are compiled once where Kokkos has a device: what doesn't share its code with hosts.
#   PRECOMPILED_WITH module with the same options of the compiler, whose precompiled Kokkos the sources start from: core
#                   unless it says otherwise. A module named here with itself precompiles its own.
# Without sources there is nothing to compile, and LINK_PRIVATE has no meaning.
function(coir_add_module name)
  cmake_parse_arguments(module "" "PRECOMPILED_WITH" "HEADERS;SOURCES;INSTANTIATE;DEVICE_SOURCES;LINK;LINK_PRIVATE"
                        ${ARGN})
  set(target coir_${name})
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM module_HEADERS PREPEND ${include_dir}/coir/${name}/)

  coir_instantiate(module_SOURCES ${name} ${module_INSTANTIATE})
  if(Kokkos_DEVICES MATCHES "CUDA|HIP")
    list(APPEND module_SOURCES ${module_DEVICE_SOURCES})
  endif()

  if(module_SOURCES)
    set(scope PUBLIC)
    coir_kernels_apart(${target} module_SOURCES)
    add_library(${target} ${module_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE ${module_LINK_PRIVATE})
    coir_warn(${target})
    set(kernels ${module_SOURCES})
    list(FILTER kernels INCLUDE REGEX "_(host|device)\\.cpp$|^host_")
    coir_join_sources(${target} APART ${kernels})
    if(NOT module_PRECOMPILED_WITH)
      set(module_PRECOMPILED_WITH core)
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL)
      # Options of the project around may come with one module and not with another.
    elseif(module_PRECOMPILED_WITH STREQUAL name)
      coir_precompile(${target} PRIVATE <Kokkos_Core.hpp> <algorithm> <memory> <string> <vector>)
    else()
      coir_precompile(${target} REUSE_FROM coir_${module_PRECOMPILED_WITH})
    endif()
    set_target_properties(
      ${target}
      PROPERTIES CXX_EXTENSIONS OFF
                 POSITION_INDEPENDENT_CODE ON
                 DEFINE_SYMBOL "" # of a shared library, which would differ between those that start from one precompiled header
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
  if(NOT PROJECT_IS_TOP_LEVEL) # a project around coir isn't warned of its headers, as one isn't that finds it installed
    set_target_properties(${target} PROPERTIES SYSTEM ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY COIR_MODULES ${name})
endfunction()

# Writes, for each further argument x, the sources that include src/MODULE/x_impl.hpp and name an execution space, and
# appends them to SOURCES.
function(coir_instantiate sources module)
  set(spaces host DefaultHostExecutionSpace)
  if(Kokkos_DEVICES MATCHES "CUDA|HIP")
    list(APPEND spaces device DefaultExecutionSpace)
  endif()
  foreach(name IN LISTS ARGN)
    string(TOUPPER ${name} upper)
    set(rest ${spaces})
    while(rest)
      list(POP_FRONT rest kind space)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_${kind}.cpp)
      file(
        CONFIGURE OUTPUT ${file}
        CONTENT "// By coir_add_module.\n#include <${module}/${name}_impl.hpp>\n\nCOIR_INSTANTIATE_${upper}(Kokkos::${space})\n")
      list(APPEND ${sources} ${file})
    endwhile()
  endforeach()
  set(${sources} "${${sources}}" PARENT_SCOPE)
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
