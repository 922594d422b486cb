# The target 'demo': what this machine can do at best, what each scheme makes of it, and pictures.
set(apps coir_app_escape coir_app_info coir_app_jacobi)
set(nbody)
if(TARGET coir_app_nbody)
  list(APPEND apps coir_app_nbody)
  set(nbody -D NBODY=$<TARGET_FILE:coir_app_nbody>)
endif()
set(field)
if(TARGET coir_app_field)
  list(APPEND apps coir_app_field)
  set(field -D FIELD=$<TARGET_FILE:coir_app_field> -D WORD=${CMAKE_CURRENT_SOURCE_DIR}/field/word.png)
endif()
add_custom_target(
  demo
  COMMAND
    ${CMAKE_COMMAND}
    -D INFO=$<TARGET_FILE:coir_app_info>
    -D JACOBI=$<TARGET_FILE:coir_app_jacobi>
    -D ESCAPE=$<TARGET_FILE:coir_app_escape>
    ${nbody}
    ${field}
    -D PHOTOGRAPH=${CMAKE_CURRENT_SOURCE_DIR}/jacobi/coffee.png
    -D FOLDER=${PROJECT_BINARY_DIR}/pictures
    -P ${CMAKE_CURRENT_SOURCE_DIR}/run_demo.cmake
  DEPENDS ${apps}
  USES_TERMINAL
  VERBATIM)
