#pragma once

/// \file
/// Kokkos, and the few places where its supported versions (3.4.1 up to, not including, 6) differ.

// With -ffast-math compilers assume that there is no NaN, reorder sums, and make denormal numbers
// 0: isnan() is false for NaN, and errors exceed the promised ones. g++ tells of parts of these
// flags from version 12 on.
#if (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || defined(__FAST_MATH__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "coir needs numbers as IEEE 754 has them: compile and link without -ffast-math and -Ofast"
#endif

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#if KOKKOS_VERSION < 30401 || KOKKOS_VERSION >= 60000
#error "coir needs Kokkos 3.4.1 or newer, below 6"
#endif
#if KOKKOS_VERSION == 50200
#error "Kokkos 5.2.0 inverts its NDEBUG checks: use another release"
#endif

// Kokkos::Experimental::sort_by_key, and a sort on devices that doesn't need to know the range of
// values.
#if KOKKOS_VERSION >= 40500
#define COIR_KOKKOS_SORTS_BY_KEY
#endif

// Kokkos::Serial exists beside other backends only if Kokkos was configured so.
#if defined(KOKKOS_ENABLE_SERIAL)
#define COIR_KOKKOS_HAS_SERIAL
#endif

// Kokkos' own loops pass volatile values to a reducer's join().
#if KOKKOS_VERSION < 30700
#define COIR_KOKKOS_JOINS_VOLATILE
#endif

/// Before a loop in a kernel whose count the compiler knows: unrolls it, so that arrays indexed in
/// it can lie in registers.
#if defined(__clang__) || defined(__CUDACC__)
#define COIR_UNROLL _Pragma("unroll")
#else
#define COIR_UNROLL
#endif

/// Before a loop in a kernel: doesn't unroll it.
#if defined(__clang__) || defined(__CUDACC__)
#define COIR_NO_UNROLL _Pragma("unroll 1")
#else
#define COIR_NO_UNROLL
#endif

/// True in code that is compiled for a device: chooses between a variant that is faster there and
/// one that is faster on hosts.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define COIR_ON_DEVICE true
#else
#define COIR_ON_DEVICE false
#endif

/// Before a template for hosts and devices that may call a functor for hosts alone: silences nvcc's
/// warning. With such a functor it may be called on hosts only.
#if defined(__CUDACC__)
#define COIR_CALLS_WHAT_IT_IS_GIVEN _Pragma("nv_exec_check_disable")
#else
#define COIR_CALLS_WHAT_IT_IS_GIVEN
#endif

namespace coir {

#if defined(KOKKOS_ENABLE_HIP)
#if KOKKOS_VERSION >= 40000
using Hip = Kokkos::HIP;
using HipHostPinnedSpace = Kokkos::HIPHostPinnedSpace;
#else
using Hip = Kokkos::Experimental::HIP;
using HipHostPinnedSpace = Kokkos::Experimental::HIPHostPinnedSpace;
#endif
#endif

/// Whether devices are NVIDIA's: CUDA's, not HIP's.
#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool devices_have_cuda = true;
#else
inline constexpr bool devices_have_cuda = false;
#endif

/// The least size in bytes of a value that a RangePolicy reduces correctly on a GPU: with Kokkos
/// 3.4 smaller values overwrite each other.
inline constexpr std::size_t least_bytes_to_reduce = KOKKOS_VERSION >= 30500 ? 1 : 4;

/// The most blocks of threads that reduce a RangePolicy on a GPU; from Kokkos 4.6 on more than any
/// GPU runs at a time.
inline constexpr std::int64_t most_blocks_to_reduce = KOKKOS_VERSION >= 40600 ? 1 << 20 : 256;

/// The property of a policy by which a kernel travels with its launch's arguments, which hold 4096
/// bytes with the policy beside it. CUDA's launches of kernels of 512 bytes and more would wait for
/// the one before otherwise, and couldn't become part of a graph.
template <class Kernel>
using PassedWithLaunch =
    std::conditional_t<(sizeof(Kernel) <= 3584),
                       Kokkos::Experimental::WorkItemProperty::HintLightWeight_t,
                       Kokkos::Experimental::WorkItemProperty::None_t>;

/// The version of Kokkos compiled against, "major.minor.patch".
inline std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

/// True for execution spaces whose kernels are plain host code (Serial, OpenMP, Threads).
template <class Exec>
inline constexpr bool runs_on_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// True while a Kokkos tool (profiler, debugger) listens: kernels must then go through Kokkos.
inline bool tool_is_loaded() { return Kokkos::Profiling::profileLibraryLoaded(); }

}  // namespace coir
