#pragma once

#include <coir/core/kokkos.hpp>

#include <concepts>
#include <type_traits>

namespace coir {

/// A Kokkos execution space: where kernels run.
template <class T>
concept ExecutionSpace = Kokkos::is_execution_space<T>::value;

namespace detail {

/// Always true. The assertion inside reports the error; a constraint that fails, too, would hide it
/// among other lines.
template <class Exec>
struct IsCompiled : std::true_type {
  static_assert(std::same_as<Exec, Kokkos::DefaultExecutionSpace> ||
                    std::same_as<Exec, Kokkos::DefaultHostExecutionSpace>,
                "coir's libraries are compiled for Kokkos::DefaultExecutionSpace and "
                "Kokkos::DefaultHostExecutionSpace, and not for this execution space: use one of "
                "these (one host thread: OMP_NUM_THREADS=1)");
};

}  // namespace detail

/// An execution space that coir's libraries have kernels for: Kokkos' default one, and its default
/// one on hosts. For other spaces, such as Serial beside OpenMP, the compiler says in one line
/// which ones there are.
template <class T>
concept CompiledSpace = ExecutionSpace<T> && detail::IsCompiled<T>::value;

/// float or double, possibly const.
template <class T>
concept Real =
    std::same_as<std::remove_cv_t<T>, float> || std::same_as<std::remove_cv_t<T>, double>;

/// A Kokkos View with `Rank` dimensions.
template <class V, int Rank>
concept ViewOfRank = Kokkos::is_view<V>::value && static_cast<int>(V::rank) == Rank;

/// A Kokkos View of float or double with `Rank` dimensions.
template <class V, int Rank>
concept RealViewOfRank = ViewOfRank<V, Rank> && Real<typename V::value_type>;

/// A Kokkos View of float or double with `Rank` dimensions, whose elements may be written.
template <class V, int Rank>
concept WritableRealViewOfRank =
    RealViewOfRank<V, Rank> && !std::is_const_v<typename V::value_type>;

/// A View whose last index is contiguous, as in C and NumPy.
template <class V>
concept RowMajor = std::same_as<typename V::array_layout, Kokkos::LayoutRight>;

/// Kernels on `Exec` may touch the memory of every one of these Views.
template <class Exec, class... Views>
concept CanAccess =
    (bool(Kokkos::SpaceAccessibility<Exec, typename Views::memory_space>::accessible) && ...);

/// These Views hold the same type of number (const or not).
template <class First, class... Others>
concept SameValueType =
    (std::same_as<typename First::non_const_value_type, typename Others::non_const_value_type> &&
     ...);

}  // namespace coir
