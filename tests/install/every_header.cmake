# Every header of the source tree is installed: one that no module lists would be missing for users alone.
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/*.hpp)
foreach(header IN LISTS headers)
  if(NOT EXISTS ${INSTALLED}/${header})
    message(SEND_ERROR "${header} is not installed: list it in src/<module>/CMakeLists.txt")
  endif()
endforeach()
