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
