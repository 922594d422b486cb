# MPI, which connects ranks (module distributed). Without it everything is built all the same, for one rank.
option(COIR_ENABLE_MPI "Let programs run on several ranks, by MPI" OFF)
set(COIR_MPI_LIBRARIES "")
if(COIR_ENABLE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # the interface of C is what coir uses
  find_package(MPI COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    message(FATAL_ERROR "COIR_ENABLE_MPI is on, and no MPI was found (Debian and Ubuntu: scripts/setup.sh --mpi; "
                        "elsewhere: load its module, or -D MPI_HOME=<prefix>)")
  endif()
  set(COIR_MPI_LIBRARIES MPI::MPI_CXX)
endif()

# The command that runs a program on so many ranks; on one by itself.
function(coir_on_ranks command ranks program)
  if(ranks EQUAL 1)
    set(${command} ${program} ${ARGN} PARENT_SCOPE)
  else()
    set(${command} ${COIR_MPIEXEC} ${COIR_MPIEXEC_OPTIONS} -n ${ranks} ${program} ${ARGN} PARENT_SCOPE)
  endif()
endfunction()
# Open MPI asks to be told that there may be more ranks than cores, and that root means it; in containers its ranks may not read
# each other's memory.
set(COIR_RANKS_ENVIRONMENT OMP_NUM_THREADS=1 OMP_PROC_BIND=false KOKKOS_DISABLE_WARNINGS=true)
if(COIR_ENABLE_MPI)
  find_program(COIR_MPIEXEC NAMES ${MPIEXEC_EXECUTABLE} mpiexec REQUIRED)
  mark_as_advanced(COIR_MPIEXEC)
  execute_process(COMMAND ${COIR_MPIEXEC} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
  if(mpiexec_version MATCHES "Open MPI|OpenRTE")
    set(COIR_MPIEXEC_OPTIONS --oversubscribe --bind-to none)
    list(APPEND COIR_RANKS_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
         OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none)
  endif()
endif()
# Open MPI leaves a hundred kilobytes at its end, in modules that are unloaded by then, so that they can't be told from leaks of
# ours: these are looked for on one rank.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  list(APPEND COIR_RANKS_ENVIRONMENT
       ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1)
endif()
