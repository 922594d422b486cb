# The target 'demo': what this machine can do at best, what each scheme makes of it, and pictures.
add_custom_target(
  demo
  COMMAND ${CMAKE_COMMAND} -D APPS=${CMAKE_CURRENT_BINARY_DIR} -D FOLDER=${PROJECT_BINARY_DIR}/pictures -P
          ${CMAKE_CURRENT_SOURCE_DIR}/run_demo.cmake
  USES_TERMINAL VERBATIM)
foreach(app IN ITEMS escape info jacobi nbody field)
  if(TARGET coir_app_${app})
    add_dependencies(demo coir_app_${app})
  endif()
endforeach()
