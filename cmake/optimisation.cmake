# Says so when a project that includes coir's headers compiles them without optimisation: they are templates, and what
# is fast in them is fast only then. Included by coir's own build, whose flags are those of the project around it, and by
# coirConfig.cmake; sets nothing, because flags are the project's own.
get_property(coir_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT coir_multi_config
   AND "${CMAKE_BUILD_TYPE}" STREQUAL ""
   AND NOT CMAKE_CXX_FLAGS MATCHES "-O[1-3sfgz]")
  message(NOTICE "coir: CMAKE_BUILD_TYPE is empty, so that the compiler doesn't optimise: -D CMAKE_BUILD_TYPE=Release")
endif()
unset(coir_multi_config)
