#pragma once

/// \file
/// A function of numbers and parts of arrays, mapped over axes of arrays in one kernel: JAX's vmap.
///
///     auto const lengths = vmap(KOKKOS_LAMBDA(Row<double> const& x) { return norm(x); })(points);
///     auto const traces = vmap(Trace{}, in_axes(-1))(matrices);  // matrices(i, j, k) is element i, j of matrix k

#include <coir/array/array.hpp>
#include <coir/array/detail/vmap_arrays.hpp>
#include <coir/array/subarray.hpp>
#include <coir/core/pack.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace coir {

/// In in_axes: an argument that every call gets whole. JAX's None.
struct Unmapped {};
inline constexpr Unmapped unmapped{};

/// What in_axes() gives: an axis for each argument, or one for all.
template <bool... Mapped>
struct InAxes {
  std::array<int, sizeof...(Mapped)> axes;
};

/// What out_axes() gives.
struct OutAxes {
  int axis;
};

/// The axis that vmap maps over, for each argument: in_axes(0, unmapped, -1), where negative ones count from the end. A
/// single one is for all arguments that are arrays.
template <class... Axis>
  requires(sizeof...(Axis) > 0) && ((std::integral<Axis> || std::same_as<Axis, Unmapped>) && ...)
InAxes<std::integral<Axis>...> in_axes(Axis... axes) {
  auto const number = [](auto axis) {
    if constexpr (std::integral<decltype(axis)>)
      return static_cast<int>(axis);
    else
      return 0;
  };
  return {{number(axes)...}};
}

/// The axis of vmap's result along which the calls' results lie.
inline OutAxes out_axes(int axis) { return {axis}; }

namespace detail {

template <class X>
struct SpaceOf {
  using type = AnySpace;
};
template <Expression X>
struct SpaceOf<X> {
  using type = typename X::space;
};

/// The space of arguments, the default one if none of them has memory.
template <class... X>
struct VmapSpace {
  using type = common_space_t<typename SpaceOf<X>::type...>;
};
template <class... X>
  requires std::same_as<common_space_t<typename SpaceOf<X>::type...>, AnySpace>
struct VmapSpace<X...> {
  using type = DefaultSpace;
};

/// An argument in memory; it owns what it points to while the kernel is launched.
template <class Space, class X>
auto vmap_operand(X const& x) {
  if constexpr (!Expression<X>)
    return x;
  else if constexpr (requires { x.as_operand(); })
    return x.as_operand();
  else
    return Array<value_t<X>, rank_of<X>, Space>(x).as_operand();
}

/// The same for kernels, before any axis is taken.
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

/// In place of OutAxes where no out_axes is named. A type of its own, so that the kernel writes call after call with steps
/// that the compiler knows: that is what lets it compute several calls at once.
struct LeadingAxis {
  static constexpr int axis = 0;
};

/// What the vmaps of a nest have settled, the outermost first: how many calls each makes, and where they go in the result.
///
/// \tparam InOrder  each has the LeadingAxis
template <int Levels, bool InOrder>
struct VmapNest {
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

/// The shape of a nest's result: from the innermost vmap on, each puts its axis among those of a call's result.
template <std::size_t Rank, int Levels, bool InOrder>
std::array<std::int64_t, Rank> vmap_shape(VmapNest<Levels, InOrder>& nest,
                                          std::array<std::int64_t, Rank> shape) {
  for (int l = Levels - 1; l >= 0; --l) {
    std::size_t const rank = Rank - static_cast<std::size_t>(l);
    std::size_t const axis = checked_out_axis(nest.out_axes[l], static_cast<int>(rank));
    nest.out_axes[l] = static_cast<int>(axis);
    for (std::size_t d = rank - 1; d > axis; --d) shape[d] = shape[d - 1];
    shape[axis] = nest.lengths[l];
  }
  return shape;
}

template <class F, class Out, int Levels, class... X>
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

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    VmapCall<Levels> call;
    call.number = i;
    COIR_UNROLL
    for (int l = Levels - 1; l > 0; --l) {
      call.index[l] = i % lengths.index[l];
      i /= lengths.index[l];
    }
    call.index[0] = i;
    out.write(call, arguments.apply(Called{f, call}));
  }
};

/// Calls f for all indices of a nest.
template <class Space, class F, int Levels, bool InOrder, class... X>
auto vmap_calls(F const& f, VmapNest<Levels, InOrder> nest, X const&... arguments) {
  using R = std::remove_cvref_t<
      std::invoke_result_t<F const&, decltype(arguments.at(VmapCall<Levels>()))...>>;
  using T = typename VmapResult<R>::type;
  constexpr int rank = Levels + VmapResult<R>::rank;
  static_assert(Element<T>, "a function for vmap returns a number, or a Kokkos::Array of numbers");
  static_assert(rank <= 4, "vmap's result would have more than the 4 axes that arrays may have");
  Shape<rank> shape{};
  VmapResult<R>::shape_to(shape.data());
  Array<T, rank, Space> result(vmap_shape(nest, shape));
  auto const out = [&] {
    if constexpr (InOrder)
      return VmapRows<T>{result.data()};
    else
      return without_axes(vmap_whole(result.all()), nest.out_axes);
  }();

  std::int64_t calls = 1;
  VmapCall<Levels> lengths;
  for (int l = 0; l < Levels; ++l) calls *= lengths.index[l] = nest.lengths[l];
  if (calls == 0) return result;
  VmapBody<F, std::remove_const_t<decltype(out)>, Levels, X...> const body{
      f, out, lengths, {{arguments}...}};
  // Calls may be dear and differ in cost, so on hosts a thread takes a few at a time.
  using Exec = typename Space::execution_space;
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  Exec const exec = instance<Exec>();
  Policy policy(exec, 0, calls);
  if constexpr (runs_on_host<Exec>)
    policy.set_chunk_size(
        static_cast<int>(std::clamp<std::int64_t>(calls / (16 * exec.concurrency()), 1, 4096)));
  Kokkos::parallel_for("coir::array::vmap", policy, body);
  return result;
}

template <class F, class In, class Out>
class Vmapped;
template <class F>
inline constexpr bool is_vmapped = false;
template <class F, class In, class Out>
inline constexpr bool is_vmapped<Vmapped<F, In, Out>> = true;

/// A function that takes arrays where the original takes numbers and parts of arrays.
template <class F, bool... Mapped, class Out>
class Vmapped<F, InAxes<Mapped...>, Out> {
 public:
  Vmapped(F f, InAxes<Mapped...> in, Out out) : f_(std::move(f)), in_(in), out_(out) {}

  template <class... X>
    requires((Expression<X> || Scalar<X>) && ...) &&
            requires { typename common_space_t<typename SpaceOf<X>::type...>; }
  auto operator()(X const&... arguments) const {
    using Space = typename VmapSpace<X...>::type;
    return launch<Space>(vmap_operand<Space>(arguments)...);
  }

  /// Takes its axes from what the vmaps around it have left of the arguments, which are VmapArrays and VmapNumbers.
  template <class Space, class Nest, class... X>
  auto inside(Nest const& nest, X const&... arguments) const {
    constexpr bool counted = one_for_all || sizeof...(Mapped) == sizeof...(X);
    static_assert(counted, "vmap's in_axes names an axis for each argument, or one for all");
    if constexpr (one_for_all)
      return take_axes<Space>(
          std::integer_sequence<bool, ((Mapped && ...) && vmap_rank<X> != of_number)...>(),
          std::index_sequence_for<X...>(), nest, arguments...);
    else if constexpr (counted)
      return take_axes<Space>(std::integer_sequence<bool, Mapped...>(),
                              std::index_sequence_for<X...>(), nest, arguments...);
  }

 private:
  static constexpr bool one_for_all = sizeof...(Mapped) == 1;

  template <class Space, class... X>
  auto launch(X const&... operands) const {
    return inside<Space>(VmapNest<0, true>{}, vmap_whole(operands)...);
  }

  template <class Space, bool... Taken, std::size_t... K, class Nest, class... X>
  auto take_axes(std::integer_sequence<bool, Taken...>, std::index_sequence<K...>, Nest const& nest,
                 X const&... arguments) const {
    constexpr bool some = (Taken || ...);
    constexpr bool arrays = ((!Taken || vmap_rank<X> != of_number) && ...);
    constexpr bool deep = ((!Taken || vmap_rank<X> != 0) && ...);
    static_assert(some, "vmap maps over an axis of at least one array: name it in in_axes");
    static_assert(arrays, "an argument that is a number is unmapped in vmap's in_axes");
    static_assert(deep,
                  "vmap maps over an axis of an argument that has none, or none left by the vmap "
                  "around it: name unmapped in in_axes");
    if constexpr (some && arrays && deep) {
      std::array<int, sizeof...(X)> const axes{
          checked_axis<Taken>(arguments, in_.axes[one_for_all ? 0 : K], K + 1)...};
      auto const nested = nest.with(
          common_length<sizeof...(X)>({length_along<Taken>(arguments, axes[K])...}, axes), out_);
      if constexpr (is_vmapped<F>)
        return f_.template inside<Space>(nested, without_axis<Taken>(arguments, axes[K])...);
      else
        return vmap_calls<Space>(f_, nested, without_axis<Taken>(arguments, axes[K])...);
    }
  }

  F f_;
  InAxes<Mapped...> in_;
  Out out_;
};

}  // namespace detail

/// Maps f over an axis of its arguments: vmap(f)(a, b, ...) calls f once per index along it, all in one kernel. An argument
/// with one axis gives a call a number, with two a Row, with three a Matrix, with four a Subarray<T const, 3>. A number
/// stays as it is, and an argument that in_axes names unmapped is given whole.
///
/// Where calls return numbers the result has shape (n,); where they return m of them, as a Kokkos::Array or Numbers, (n, m);
/// where these are of k each, (n, m, k). out_axes says at which axis the n calls stand, the first unless told.
///
/// f may itself be a vmap(g), which maps over what the outer one leaves: the nest is one kernel, and g is called for each
/// pair of indices. Arguments that are expressions are evaluated first. On hosts the calls are shared among threads one by
/// one, on devices each has a thread of its own.
///
/// \param f    a callable that kernels can use: KOKKOS_LAMBDA, a struct with KOKKOS_FUNCTION, grad(g), or vmap(g)
/// \param in   in_axes(...): the axis of each argument, 0 unless told
/// \param out  out_axes(axis)
/// \throws PreconditionError if an axis is out of range, or those that are mapped differ in length
template <class F, bool... Mapped, class Out = detail::LeadingAxis>
  requires std::same_as<Out, OutAxes> || std::same_as<Out, detail::LeadingAxis>
auto vmap(F f, InAxes<Mapped...> in, Out out = {}) {
  return detail::Vmapped<F, InAxes<Mapped...>, Out>(std::move(f), in, out);
}
template <class F>
auto vmap(F f, OutAxes out) {
  return vmap(std::move(f), in_axes(0), out);
}
template <class F>
auto vmap(F f) {
  return vmap(std::move(f), in_axes(0));
}

}  // namespace coir
