#pragma once

/// \file
/// The kernel of vmap: a function called for all indices of a nest of vmaps, whose results go into
/// an array.

#include <coir/array/array.hpp>
#include <coir/array/detail/vmap_arrays.hpp>
#include <coir/core/pack.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace coir::detail {

/// An argument in memory as kernels know it, before any axis is taken.
template <class X>
auto vmap_whole(X const& x) {
  if constexpr (!Expression<X>) {
    return VmapNumber<X>{x};
  } else {
    VmapArray<typename X::element_type, 0, rank_of<X>> result{x.data(), {}, {}, {}};
    std::copy_n(x.shape().begin(), rank_of<X>, result.shape);
    std::copy_n(x.strides().begin(), rank_of<X>, result.strides);
    return result;
  }
}

/// Takes the place of OutAxes if there is no out_axes(). With this type the compiler knows the
/// steps between calls' results, and vectorises over calls.
struct LeadingAxis {
  static constexpr int axis = 0;
};

/// The vmaps of a nest, the outermost first: how many calls each makes, and along which axis of the
/// result.
///
/// \tparam InOrder  each has the LeadingAxis
template <int Levels, bool InOrder>
struct VmapNest {
  static constexpr int levels = Levels;
  static constexpr bool in_order = InOrder;
  std::array<std::int64_t, Levels> lengths;
  std::array<int, Levels> out_axes;

  template <class Out>
  auto with(std::int64_t length, Out out) const {
    VmapNest<Levels + 1, InOrder && std::same_as<Out, LeadingAxis>> result{};
    std::copy_n(lengths.begin(), Levels, result.lengths.begin());
    std::copy_n(out_axes.begin(), Levels, result.out_axes.begin());
    result.lengths[Levels] = length;
    result.out_axes[Levels] = out.axis;
    return result;
  }
};

/// The shape of a nest's result: from the innermost vmap on, each puts its axis among those of a
/// call's part.
///
/// \param shape  begins with the extents of a call's part
template <std::size_t Rank, class Nest>
std::array<std::int64_t, Rank> vmap_shape(Nest& nest, std::array<std::int64_t, Rank> shape) {
  for (int l = Nest::levels - 1; l >= 0; --l) {
    std::size_t const rank = Rank - static_cast<std::size_t>(l);
    std::size_t const axis = checked_out_axis(nest.out_axes[l], static_cast<int>(rank));
    nest.out_axes[l] = static_cast<int>(axis);
    for (std::size_t d = rank - 1; d > axis; --d) shape[d] = shape[d - 1];
    shape[axis] = nest.lengths[l];
  }
  return shape;
}

/// \tparam Writes  f returns nothing, and has a call's part of the result as its last argument
template <bool Writes, class F, class Out, int Levels, class... X>
struct VmapBody {
  F f;
  Out out;
  VmapCall<Levels> lengths;
  Pack<X...> arguments;

  struct Called {
    F const& f;
    VmapCall<Levels> const& call;
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(X const&... x) const { return f(x.at(call)...); }
  };
  struct CalledToWrite {
    F const& f;
    VmapCall<Levels> const& call;
    Out const& out;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(X const&... x) const {
      f(x.at(call)..., out.at(call));
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    VmapCall<Levels> call;
    call.number = i;
    COIR_UNROLL
    for (int l = Levels - 1; l > 0; --l) {
      call.index[l] = i % lengths.index[l];
      i /= lengths.index[l];
    }
    call.index[0] = i;
    if constexpr (Writes)
      arguments.apply(CalledToWrite{f, call, out});
    else
      out.write(call, arguments.apply(Called{f, call}));
  }
};

/// Calls f for all indices of a nest, in one kernel.
template <class Space, bool Writes = false, class F, class Nest, class Out, class... X>
void vmap_calls(F const& f, Nest const& nest, Out const& out, X const&... arguments) {
  std::int64_t calls = 1;
  VmapCall<Nest::levels> lengths{};
  for (int l = 0; l < Nest::levels; ++l) calls *= lengths.index[l] = nest.lengths[l];
  if (calls == 0) return;
  VmapBody<Writes, F, Out, Nest::levels, X...> const body{f, out, lengths, {{arguments}...}};
  // Calls may be expensive and differ in cost: on hosts a thread takes a few at a time.
  using Exec = typename Space::execution_space;
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  Exec const exec = instance<Exec>();
  Policy policy(exec, 0, calls);
  if constexpr (runs_on_host<Exec>) {
    policy.set_chunk_size(
        static_cast<int>(std::clamp<std::int64_t>(calls / (16 * exec.concurrency()), 1, 4096)));
    launch_on_host([=] {
      if (calls == 1)  // without a start of threads
        body(0);
      else
        Kokkos::parallel_for("coir::array::vmap_calls/vmap", policy, body);
    });
  } else {
    Kokkos::parallel_for("coir::array::vmap_calls/vmap", policy, body);
  }
}

/// The type of a call's part of an argument.
template <class X, int Levels>
using vmap_part_t = decltype(std::declval<X const&>().at(VmapCall<Levels>()));

/// The VmapResult of a call of f; VmapResult<void> after an error.
template <class F, class Nest, class... X>
constexpr auto vmap_result() {
  constexpr bool callable = std::is_invocable_v<F const&, vmap_part_t<X, Nest::levels>...>;
  static_assert(callable,
                "a function for vmap takes what a call gets of each argument: a number, a Row, a "
                "Matrix or a Subarray, by the number of axes that are left");
  if constexpr (callable) {
    using R = std::remove_cvref_t<std::invoke_result_t<F const&, vmap_part_t<X, Nest::levels>...>>;
    constexpr bool numbers = Element<typename VmapResult<R>::type>;
    static_assert(numbers,
                  "a function for vmap returns a number, or a Kokkos::Array or Numbers of them");
    return VmapResult<std::conditional_t<numbers, R, void>>();
  } else {
    return VmapResult<void>();
  }
}

/// All calls' parts of an argument or a result, as a slice: the axes of the nest, and those of a
/// part.
template <class Space, class Nest, class T, int Rank>
auto vmap_slice(Nest const& nest, VmapArray<T, Nest::levels, Rank> const& x) {
  Shape<Nest::levels + Rank> shape{};
  Strides<Nest::levels + Rank> strides{};
  std::copy_n(nest.lengths.begin(), Nest::levels, shape.begin());
  std::copy_n(x.steps, Nest::levels, strides.begin());
  std::copy_n(x.shape, Rank, shape.begin() + Nest::levels);
  std::copy_n(x.strides, Rank, strides.begin() + Nest::levels);
  return Slice<T, Nest::levels + Rank, Space>{x.data, shape, strides, {}};
}

/// Whether f made the results of all calls at once, by a member all_at_once(results, arguments...)
/// that takes slices.
template <class Space, class F, class Nest, class Out, class... X>
bool vmap_at_once(F const& f, Nest const& nest, Out const& out, X const&... arguments) {
  if constexpr (Nest::levels < 4 && requires {
                  f.all_at_once(vmap_slice<Space>(nest, out),
                                vmap_slice<Space>(nest, arguments)...);
                })
    return f.all_at_once(vmap_slice<Space>(nest, out), vmap_slice<Space>(nest, arguments)...);
  else
    return false;
}

/// The results of calls make a new array.
struct VmapToNew {
  template <class Space, class F, class Nest, class... X>
  auto call(F const& f, Nest nest, X const&... arguments) const {
    using Result = decltype(vmap_result<F, Nest, X...>());
    using T = typename Result::type;
    constexpr int rank = Nest::levels + Result::rank;
    static_assert(rank <= 4, "vmap's result would have more than the 4 axes that arrays may have");
    if constexpr (!std::is_void_v<T> && rank <= 4) {
      Shape<rank> shape{};
      Result::shape_to(shape.data());
      Array<T, rank, Space> made(vmap_shape(nest, shape));
      auto const out = without_axes(vmap_whole(made.all()), nest.out_axes);
      if (vmap_at_once<Space>(f, nest, out, arguments...)) return made;
      if constexpr (Nest::in_order)
        vmap_calls<Space>(f, nest, VmapRows<T>{made.data()}, arguments...);
      else
        vmap_calls<Space>(f, nest, out, arguments...);
      return made;
    }
  }
};

/// The results of calls go into a slice.
template <class Y>
struct VmapToSlice {
  Y target;

  template <class Space, class F, class Nest, class... X>
  void call(F const& f, Nest nest, X const&... arguments) const {
    constexpr int rank = Y::rank - Nest::levels;
    static_assert(rank >= 0, "vmap_into writes an array that has an axis for each vmap of a nest");
    if constexpr (rank >= 0) {
      for (int l = 0; l < Nest::levels; ++l)
        nest.out_axes[l] = static_cast<int>(checked_out_axis(nest.out_axes[l], Y::rank - l));
      auto const out = without_axes(vmap_whole(target), nest.out_axes);
      using Part = vmap_part_t<std::remove_const_t<decltype(out)>, Nest::levels>;
      if constexpr (std::is_invocable_v<F const&, vmap_part_t<X, Nest::levels>..., Part>) {
        Shape<Y::rank> part{};
        std::copy_n(out.shape, rank, part.begin());
        expects_target(vmap_shape(nest, part));
        vmap_calls<Space, true>(f, nest, out, arguments...);
      } else {
        using Result = decltype(vmap_result<F, Nest, X...>());
        constexpr bool fits = Result::rank == rank;
        static_assert(fits,
                      "a call returns what its part of vmap_into's array takes, or has that as "
                      "its last argument");
        if constexpr (fits && !std::is_void_v<typename Result::type>) {
          check_stores<value_t<Y>, typename Result::type>();
          Shape<Y::rank> part{};
          Result::shape_to(part.data());
          expects_target(vmap_shape(nest, part));
          if (!vmap_at_once<Space>(f, nest, out, arguments...))
            vmap_calls<Space>(f, nest, out, arguments...);
        }
      }
    }
  }

 private:
  void expects_target(Shape<Y::rank> const& filled) const {
    if (filled != target.shape())
      throw PreconditionError("vmap_into writes an array of shape " + in_words(target.shape()) +
                              ", and its calls fill " + in_words(filled) +
                              ": make the array of that shape, or name other out_axes");
  }
};

}  // namespace coir::detail
