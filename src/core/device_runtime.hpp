#pragma once

/// The runtimes of CUDA and HIP, whose functions differ in the first letters of their names.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

#include <string>

#if defined(KOKKOS_ENABLE_CUDA)
#define COIR_RUNTIME(name) cuda##name
#elif defined(KOKKOS_ENABLE_HIP)
#define COIR_RUNTIME(name) hip##name
#endif

#ifdef COIR_RUNTIME

namespace coir::detail {

/// \throws EnvironmentError that names the call, unless it succeeded
inline void expects_success(COIR_RUNTIME(Error_t) status, char const* call) {
  if (status != COIR_RUNTIME(Success))
    throw EnvironmentError(std::string(call) +
                           " of the device's runtime: " + COIR_RUNTIME(GetErrorString)(status));
}

}  // namespace coir::detail

#endif
