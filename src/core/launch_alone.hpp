#pragma once

/// \file
/// Launches of blocks that have a multiprocessor of a GPU each, with most of its shared memory.

#include <coir/core/kokkos.hpp>
#include <coir/core/replay.hpp>
#include <coir/core/stream.hpp>

#include <cstddef>

namespace coir {

/// A block of threads, with what a kernel asks a team of Kokkos for.
class BlockAsTeam {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit BlockAsTeam(void* shared) : shared_(shared) {}
  KOKKOS_FORCEINLINE_FUNCTION BlockAsTeam const& team_scratch(int) const { return *this; }
  KOKKOS_FORCEINLINE_FUNCTION void* get_shmem(std::size_t) const { return shared_; }
#if defined(__CUDA_ARCH__)
  KOKKOS_FORCEINLINE_FUNCTION int league_rank() const { return static_cast<int>(blockIdx.x); }
  KOKKOS_FORCEINLINE_FUNCTION int team_rank() const { return static_cast<int>(threadIdx.x); }
  KOKKOS_FORCEINLINE_FUNCTION void team_barrier() const { __syncthreads(); }
#else
  KOKKOS_FORCEINLINE_FUNCTION int league_rank() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void team_barrier() const {}
#endif

 private:
  void* shared_;
};

#if defined(KOKKOS_ENABLE_CUDA)
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, 1) run_alone(Kernel const kernel) {
  extern __shared__ __align__(16) char shared[];
  kernel(BlockAsTeam(shared));
}

/// Calls kernel(BlockAsTeam) on blocks of Kernel::threads threads that have Kernel::scratch_bytes
/// of shared memory: more than Kokkos gives a team, as CUDA gives it to kernels that ask for it.
///
/// \return false if it wasn't launched: the device has too little, or a tool of Kokkos listens
/// \throws EnvironmentError if the device refuses
template <class Kernel>
bool launch_alone(Kokkos::Cuda const& exec, int blocks, Kernel const& kernel) {
  if (tool_is_loaded()) return false;
  make_device_current(exec);
  int most_bytes = 0;
  detail::check_cuda(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                            exec.cuda_device()),
                     "cudaDeviceGetAttribute");
  if (most_bytes < Kernel::scratch_bytes) return false;
  detail::check_cuda(
      cudaFuncSetAttribute(run_alone<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           Kernel::scratch_bytes),
      "cudaFuncSetAttribute");
  run_alone<<<blocks, Kernel::threads, Kernel::scratch_bytes, stream_of(exec)>>>(kernel);
  detail::check_cuda(cudaGetLastError(), "the launch of a kernel");
  return true;
}
#endif

}  // namespace coir
