#pragma once

/// \file
/// A function of numbers and parts of arrays, mapped over axes of arrays in one kernel: JAX's vmap.
///
///     auto const lengths = vmap(KOKKOS_LAMBDA(Row<double> const& x) { return norm(x); })(points);
///     auto const traces = vmap(Trace{}, in_axes(-1))(matrices);  // matrices(i, j, k) is element
///     i, j of matrix k

#include <coir/array/array.hpp>
#include <coir/array/detail/kernels/vmap_calls.hpp>
#include <coir/array/numbers.hpp>
#include <coir/array/slices.hpp>
#include <coir/array/subarray.hpp>
#include <coir/core/overlap.hpp>

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

namespace coir {

/// The type of `unmapped`: in in_axes() it stands for an argument that every call gets whole. JAX's
/// None.
struct Unmapped {};
inline constexpr Unmapped unmapped{};

/// The result of in_axes(): an axis for each argument, or one for all.
template <bool... Mapped>
struct InAxes {
  std::array<int, sizeof...(Mapped)> axes;
};

/// The result of out_axes().
struct OutAxes {
  int axis;
};

/// The axis that vmap maps over, for each argument: in_axes(0, unmapped, -1). Negative axes count
/// from the end. A single axis is for all arguments that are arrays.
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

/// An argument in memory; an expression is evaluated. Keeps the memory alive until the kernel is
/// launched.
template <class Space, class X>
auto vmap_operand(X const& x) {
  if constexpr (!Expression<X>)
    return x;
  else if constexpr (requires { x.as_operand(); })
    return x.as_operand();
  else
    return Array<value_t<X>, rank_of<X>, Space>(x).as_operand();
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
    return call<Space>(VmapToNew(), vmap_operand<Space>(arguments)...);
  }

  static constexpr bool is_nest = is_vmapped<F>;
  F const& function() const { return f_; }

  /// The same over the same axes of another function.
  template <class G>
  auto with(G g) const {
    return Vmapped<G, InAxes<Mapped...>, Out>(std::move(g), in_, out_);
  }

  /// The axis of a result that counts the calls, from the front if there is one.
  int result_axis(int rank) const { return out_.axis < 0 ? out_.axis + rank : out_.axis; }

  /// Whether argument k, of so many axes, is mapped over `axis`.
  bool maps(std::size_t k, int rank, int axis) const {
    std::size_t const named = one_for_all ? 0 : k;
    int const mapped = in_.axes[named];
    return axis >= 0 && axis < rank && std::array<bool, sizeof...(Mapped)>{Mapped...}[named] &&
           (mapped < 0 ? mapped + rank : mapped) == axis;
  }

  /// Calls the function for arguments from vmap_operand(). `to` says where the results go.
  template <class Space, class To, class... X>
  auto call(To const& to, X const&... operands) const {
    return inside<Space>(to, VmapNest<0, true>{}, vmap_whole(operands)...);
  }

  /// Calls the function as an inner vmap of a nest. Its axes are among those that the outer vmaps
  /// have left of the arguments, which are VmapArrays and VmapNumbers.
  template <class Space, class To, class Nest, class... X>
  auto inside(To const& to, Nest const& nest, X const&... arguments) const {
    constexpr bool counted = one_for_all || sizeof...(Mapped) == sizeof...(X);
    static_assert(counted, "vmap's in_axes names an axis for each argument, or one for all");
    if constexpr (one_for_all)
      return take_axes<Space>(
          std::integer_sequence<bool, ((Mapped && ...) && vmap_rank<X> != of_number)...>(),
          std::index_sequence_for<X...>(), to, nest, arguments...);
    else if constexpr (counted)
      return take_axes<Space>(std::integer_sequence<bool, Mapped...>(),
                              std::index_sequence_for<X...>(), to, nest, arguments...);
  }

 private:
  static constexpr bool one_for_all = sizeof...(Mapped) == 1;

  template <class Space, bool... Taken, std::size_t... K, class To, class Nest, class... X>
  auto take_axes(std::integer_sequence<bool, Taken...>, std::index_sequence<K...>, To const& to,
                 Nest const& nest, X const&... arguments) const {
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
        return f_.template inside<Space>(to, nested, without_axis<Taken>(arguments, axes[K])...);
      else
        return to.template call<Space>(f_, nested, without_axis<Taken>(arguments, axes[K])...);
    }
  }

  F f_;
  InAxes<Mapped...> in_;
  Out out_;
};

/// A function of rows some of which it writes: it gets copies of these.
template <class F, class T, std::size_t Count>
struct HoldsOwnRow {
  static constexpr std::int64_t most = 16384 / sizeof(T);  // elements, on the stack
  F f;
  std::array<bool, Count> own;  // which arguments are written

  template <class... Part>
    requires std::invocable<F const&, Part const&...>
  KOKKOS_FUNCTION auto operator()(Part const&... parts) const {
    return call(std::index_sequence_for<Part...>(), parts...);
  }

 private:
  template <std::size_t... K, class... Part>
  KOKKOS_FORCEINLINE_FUNCTION auto call(std::index_sequence<K...>, Part const&... parts) const {
    T held[most];
    return f(held_or_same<K>(parts, held)...);
  }
  template <std::size_t K, class Part>
  KOKKOS_FORCEINLINE_FUNCTION Part held_or_same(Part const& part, T* held) const {
    if constexpr (K < Count && std::same_as<Part, Row<T>>) {
      if (own[K]) {
        T const* const from = part.data();
        std::int64_t const count = part.size(), step = part.stride(0);
        if (step == 1)
          for (std::int64_t i = 0; i < count; ++i) held[i] = from[i];
        else
          for (std::int64_t i = 0; i < count; ++i) held[i] = from[i * step];
        return Row<T>(held, count, 1);
      }
    }
    return part;
  }
};

/// The elements of an argument, copied if they may share memory with those of `target`.
///
/// \param own  they are those of `target`, of which each call reads what it writes alone, and takes
///   care of that
template <class Space, class X, class Target>
auto vmap_operand_beside(Target const& target, X const& x, bool own) {
  auto operand = vmap_operand<Space>(x);
  if constexpr (Expression<X>) {
    auto const range = [](auto const& y) {
      return byte_range(y.data(), y.shape(), y.strides(), sizeof(*y.data()));
    };
    if (!own && operand.size() > 0 && target.size() > 0 && range(operand).overlaps(range(target)))
      return evaluated(operand).as_operand();
  }
  return operand;
}

/// A vmap whose results go into a slice.
template <class V, class Target>
class VmappedInto {
 public:
  VmappedInto(V vmapped, Target target) : vmapped_(std::move(vmapped)), target_(std::move(target)) {
    expects_distinct_elements(target_.shape(), target_.strides(), "what vmap_into writes");
  }

  template <class... X>
    requires((Expression<X> || Scalar<X>) && ...) && requires {
      typename common_space_t<typename Target::space, typename SpaceOf<X>::type...>;
    }
  void operator()(X const&... arguments) const {
    call(std::index_sequence_for<X...>(), arguments...);
  }

 private:
  using Space = typename Target::space;
  using T = value_t<Target>;
  static constexpr bool of_numbers = Target::rank == 1,
                        of_rows =
                            Target::rank == 2 && runs_on_host<typename Space::execution_space>;

  template <class X>
  static constexpr bool may_be_target() {
    if constexpr (requires(X const& x) { x.as_operand().strides(); })
      return (of_numbers || of_rows) && !V::is_nest && rank_of<X> == Target::rank &&
             std::same_as<value_t<X>, T>;
    else
      return false;
  }

  template <std::size_t... K, class... X>
  void call(std::index_sequence<K...>, X const&... arguments) const {
    std::array<bool, sizeof...(X)> const own{is_own(K, arguments)...};
    VmapToSlice<Target> const to{target_};
    if constexpr (of_rows && (may_be_target<X>() || ...)) {
      if ((own[K] || ...)) {
        using F = std::remove_cvref_t<decltype(vmapped_.function())>;
        using Held = HoldsOwnRow<F, T, sizeof...(X)>;
        vmapped_.with(Held{vmapped_.function(), own})
            .template call<Space>(to, vmap_operand_beside<Space>(target_, arguments, own[K])...);
        return;
      }
    }
    vmapped_.template call<Space>(to, vmap_operand_beside<Space>(target_, arguments, own[K])...);
  }

  /// Whether each call gets of argument k a number, or a row to hold, that it alone writes.
  template <class X>
  bool is_own(std::size_t k, X const& x) const {
    if constexpr (may_be_target<X>()) {
      auto const elements = x.as_operand();
      constexpr std::int64_t most = HoldsOwnRow<V, T, 1>::most;
      int const axis = vmapped_.result_axis(Target::rank);
      return elements.data() == target_.data() && elements.shape() == target_.shape() &&
             elements.strides() == target_.strides() && vmapped_.maps(k, Target::rank, axis) &&
             (of_numbers || target_.shape()[1 - axis] <= most);
    }
    return false;
  }

  V vmapped_;
  Target target_;
};

}  // namespace detail

/// Maps f over an axis of its arguments: vmap(f)(a, b, ...) calls f once per index along it, all in
/// one kernel. An array with one axis passes a number to each call, with two axes a Row, with three
/// a Matrix, with four a Subarray<T const, 3>. Numbers, and arguments that in_axes calls unmapped,
/// are passed whole.
///
/// n calls that return a number give a result of shape (n,). Calls that return m numbers, as a
/// Kokkos::Array or Numbers, give (n, m), and m times k numbers (n, m, k). out_axes says which axis
/// counts the calls, by default the first one.
///
/// f may itself be a vmap(g), which maps over the axes that the outer one leaves: the nest is one
/// kernel, and g is called for each pair of indices. Arguments that are expressions are evaluated
/// first. On hosts threads share the calls out, on devices each call has a thread. The functions of
/// coir/linalg/row_functions.hpp are computed for all calls at once.
///
/// \param f    a callable that kernels can use: KOKKOS_LAMBDA, a struct with KOKKOS_FUNCTION,
///   grad(g), or vmap(g)
/// \param in   in_axes(...): the axis of each argument, by default 0
/// \param out  out_axes(axis)
/// \throws PreconditionError if an axis is out of range, or mapped axes differ in length
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

/// vmap whose results are written into an array or a slice y: vmap_into(y, f)(a, b, ...).
///
/// f may also return nothing and write its results itself, for rows whose length the compiler
/// doesn't know. Its last argument is then the call's part of y: a Subarray<T, Rank>, or a T& if no
/// axes are left. If f reads from y's memory, it reads a copy from before the call.
///
/// \param y    has the shape of the result; out says which of its axes counts the calls
/// \throws PreconditionError as vmap, and if y has another shape or two elements share an address
template <Expression Y, class F, bool... Mapped, class Out = detail::LeadingAxis>
  requires std::same_as<Out, OutAxes> || std::same_as<Out, detail::LeadingAxis>
auto vmap_into(Y&& y, F f, InAxes<Mapped...> in, Out out = {}) {
  auto target = elements_of(y);  // const for an expression, whose values are a temporary
  constexpr bool writable = !std::is_const_v<typename decltype(target)::element_type>;
  static_assert(writable, "vmap_into writes an array or a slice that isn't const");
  if constexpr (writable)
    return detail::VmappedInto(vmap(std::move(f), in, out), std::move(target));
  else
    return [](auto const&...) {};
}
template <Expression Y, class F>
auto vmap_into(Y&& y, F f, OutAxes out) {
  return vmap_into(y, std::move(f), in_axes(0), out);
}
template <Expression Y, class F>
auto vmap_into(Y&& y, F f) {
  return vmap_into(y, std::move(f), in_axes(0));
}

}  // namespace coir
