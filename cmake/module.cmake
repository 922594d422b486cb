# coir_add_module(NAME [EXCEPT file...] [LINK target...] [LINK_PRIVATE target...] [PRECOMPILED_WITH module]): the library coir_NAME, which
# others call coir::NAME. All modules are built, checked and installed alike.
#
# One rule says where its files are. Every header below include/coir/NAME is installed. Of src/NAME
#   x.cpp         is compiled once, for hosts;
#   x_device.cpp  is compiled once where Kokkos has a device: what doesn't share its code with hosts;
#   x_impl.hpp    defines COIR_INSTANTIATE_X(Exec) in no namespace, and is compiled for each execution space that coir::CompiledSpace lets in.
# EXCEPT names sources and headers that are left out. Without sources there is nothing to compile, and LINK_PRIVATE has no meaning.
# Sources start from the precompiled Kokkos of core, or of the module PRECOMPILED_WITH, which has the same options of the compiler. A module
# named there with itself precompiles its own.
set_property(GLOBAL PROPERTY COIR_MODULES "")
function(coir_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "PRECOMPILED_WITH" "EXCEPT;LINK;LINK_PRIVATE")
  set(target coir_${name})
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  file(GLOB_RECURSE headers RELATIVE ${include_dir}/coir/${name} CONFIGURE_DEPENDS ${include_dir}/coir/${name}/*.hpp)
  file(GLOB module_sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  file(GLOB instantiated RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *_impl.hpp)
  list(REMOVE_ITEM headers ${module_EXCEPT})
  list(REMOVE_ITEM module_sources ${module_EXCEPT})
  list(REMOVE_ITEM instantiated ${module_EXCEPT})
  list(TRANSFORM headers PREPEND ${include_dir}/coir/${name}/)
  if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
    list(FILTER module_sources EXCLUDE REGEX "_device\\.cpp$")
  endif()
  foreach(file IN LISTS instantiated)
    coir_instantiate(module_sources ${name} ${file})
  endforeach()

  if(module_sources)
    set(scope PUBLIC)
    coir_kernels_apart(${target} module_sources)
    add_library(${target} ${module_sources})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE ${module_LINK_PRIVATE})
    coir_warn(${target})
    if(NOT module_PRECOMPILED_WITH)
      set(module_PRECOMPILED_WITH core)
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL)
      # Options of the project around may come with one module and not with another.
    elseif(module_PRECOMPILED_WITH STREQUAL name)
      target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp> <algorithm> <memory> <string> <vector>)
    else()
      target_precompile_headers(${target} REUSE_FROM coir_${module_PRECOMPILED_WITH})
    endif()
    set_target_properties(
      ${target}
      PROPERTIES DEFINE_SYMBOL "" # of a shared library, which would differ between those that start from one precompiled header
                 VERSION ${PROJECT_VERSION}
                 SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(coir::${name} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${include_dir} FILES ${headers})
  target_link_libraries(${target} ${scope} ${module_LINK})
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  if(NOT PROJECT_IS_TOP_LEVEL) # a project around coir isn't warned of its headers, as one isn't that finds it installed
    set_target_properties(${target} PROPERTIES SYSTEM ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY COIR_MODULES ${name})
endfunction()

# Appends to SOURCES those that include src/MODULE/x_impl.hpp and name an execution space: x_host.cpp and, with a device, x_device.cpp.
function(coir_instantiate sources module header)
  string(REPLACE "_impl.hpp" "" name ${header})
  string(TOUPPER ${name} upper)
  set(kinds host)
  set(spaces DefaultHostExecutionSpace)
  if(Kokkos_DEVICES MATCHES "CUDA|HIP")
    list(APPEND kinds device)
    list(APPEND spaces DefaultExecutionSpace)
  endif()
  foreach(kind space IN ZIP_LISTS kinds spaces)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_${kind}.cpp)
    file(CONFIGURE OUTPUT ${file}
         CONTENT "#include <${module}/${header}>\n\nCOIR_INSTANTIATE_${upper}(Kokkos::${space})\n")
    list(APPEND ${sources} ${file})
    coir_keep_apart(${file})
  endforeach()
  set(${sources} "${${sources}}" PARENT_SCOPE)
endfunction()
