#pragma once

#include <coir/core/strided.hpp>

#define COIR_INSTANTIATE_STRIDED(Exec)                \
  namespace coir::detail {                            \
  COIR_COPY_STRIDED(, Exec, float);                   \
  COIR_COPY_STRIDED(, Exec, double);                  \
  COIR_COPY_STRIDED(, Exec, Kokkos::complex<float>);  \
  COIR_COPY_STRIDED(, Exec, Kokkos::complex<double>); \
  }
