#pragma once

/// \file
/// Writing into a part of a Traced array: u(range(1, -1), 0) = values. As in JAX's
/// u = u.at[1:-1, 0].set(values) the name u gets new values, and what was made of u before keeps
/// the old ones. Each such statement copies the array.

#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <concepts>
#include <type_traits>

namespace coir::detail {

/// Gives an array new values: the old ones, and others in a part of it.
template <class T, int Rank, class Space>
void write_part(TapedMemory<T, Space>& whole, Slice<T const, Rank, Space> const& part,
                Traced<T, Rank, Space> const& values) {
  T const* const first = whole.node->values();
  Traced<T, 1, Space> const before({first, {whole.node->size()}, {1}, whole.owner}, whole.node);
  std::int64_t const offset = part.data() - first;
  Shape<Rank> const shape = part.shape();
  Strides<Rank> const strides = part.strides();
  Array<T, 1, Space> next(before.values());
  Slice<T, Rank, Space>(next.data() + offset, shape, strides, nullptr) = values.values();
  auto const after =
      taped(before.node()->tape(), next,
            [before = before.without_memory(), offset, shape, strides,
             values = values.without_memory()](Slice<T const, 1, Space> const& cotangent) {
              add_cotangent(values, Slice<T const, Rank, Space>(cotangent.data() + offset, shape,
                                                                strides, cotangent.owner()));
              Array<T, 1, Space> others(cotangent);
              Slice<T, Rank, Space>(others.data() + offset, shape, strides, nullptr) = T(0);
              add_cotangent(before, others);
            });
  auto const written = after.values();
  whole = {written.data() + (whole.data - first), written.owner(), after.node()};
}

/// The values that a part takes, stretched to its shape.
template <class T, int Rank, class Space, class B>
Traced<T, Rank, Space> values_for_part(Traced<T, Rank, Space> const& part, B const& values) {
  if constexpr (std::is_arithmetic_v<B>) {
    return values_for_part(part, as_array_of_rank_0<Space>(static_cast<T>(values)).as_operand());
  } else if constexpr (rank_of<B> > Rank) {
    return part;  // StandIn refuses it
  } else {
    expects_fits(values.shape(), part.shape());
    auto const stored = [&] {
      if constexpr (!TracedExpression<B>)
        return part.constants(Array<T, rank_of<B>, Space>(values));
      else if constexpr (std::same_as<value_t<B>, T>)
        return evaluate(values);
      else
        return evaluate(cast<T>(values));
    }();
    return broadcast_to(stored, part.shape());
  }
}

}  // namespace coir::detail
