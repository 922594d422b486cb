#pragma once

/// \file
/// Random arrays from a key, as in JAX. The same key and shape always give the same numbers, bit
/// for bit, on every backend and any number of threads; normal numbers only if coir isn't compiled
/// with "fast math". There is no hidden state: use another key for other numbers.
///
///     auto const key = coir::random::key(42);
///     auto const [for_x, for_y] = coir::random::split<2>(key);
///     auto x = coir::random::normal<float>(for_x, {m, n});
///     auto y = coir::random::uniform(for_y, {n});
///
/// Numbers come from Threefry4x32-20 of the library Random123 (Salmon and others, Parallel Random
/// Numbers: As Easy as 1, 2, 3, SC11), which passes TestU01's BigCrush. The k-th number in C order
/// depends on the key and k alone: a longer array begins with the shorter one of the same key, and
/// shapes of equal size hold the same numbers.

#include <coir/array/array.hpp>
#include <coir/array/detail/random_fill.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/sorting.hpp>
#include <coir/core/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::random {

/// A key of random numbers, 128 bits. Use each key once, and derive others by split or fold_in.
/// Numbers drawn from a key are independent of the keys derived from it.
struct Key {
  std::array<std::uint32_t, 4> words{};

  bool operator==(Key const&) const = default;
};

/// The key of a seed.
inline Key key(std::uint64_t seed) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0, 0}};
}

/// `count` keys derived from one, all different from it. The first ones don't depend on `count`.
///
/// \throws PreconditionError if count is negative
inline std::vector<Key> split(Key const& key, std::int64_t count) {
  expects(count >= 0, "the number of keys to split off must be 0 or more", count);
  std::vector<Key> keys(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i].words = detail::words_at(key.words, i, detail::Purpose::split);
  return keys;
}

/// `Count` keys derived from one: auto [a, b] = split<2>(key).
template <std::size_t Count = 2>
std::array<Key, Count> split(Key const& key) {
  std::array<Key, Count> keys;
  for (std::size_t i = 0; i < Count; ++i)
    keys[i].words = detail::words_at(key.words, i, detail::Purpose::split);
  return keys;
}

/// A key derived from another and a number, such as the number of a step.
inline Key fold_in(Key const& key, std::uint64_t number) {
  return {detail::words_at(key.words, number, detail::Purpose::fold)};
}

/// Integers that `integers` makes: all but bool and character types.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                  !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                  !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

namespace detail {

using coir::detail::Target;

/// Calls fill(exec, data, count, 0) for the target's elements in C order. Where they are to begin
/// with number `first` of a key, it may also call fill(exec, data, count, n), with n a multiple of
/// 4, for memory that begins with earlier numbers.
template <class A, class Fill>
void fill_with(A&& target, Fill const& fill, std::int64_t first = 0) {
  using T = value_t<A>;
  using Space = typename std::remove_cvref_t<A>::space;
  auto const exec = coir::detail::immediate<typename Space::execution_space>("random numbers");
  std::int64_t const earlier = first % 4;
  if constexpr (requires { target.all(); }) {
    fill_with(target.all(), fill, first);
  } else if (target.size() == 0) {
    return;
  } else if (target.contiguous() && earlier == 0) {
    fill(exec, target.data(), target.size(), first);
  } else {
    Array<T, 1, Space> together(Shape<1>{earlier + target.size()});
    fill(exec, together.data(), together.size(), first - earlier);
    auto const whole = together.all();
    target = Slice<T, rank_of<A>, Space>(whole.data() + earlier, target.shape(),
                                         c_strides(target.shape()), whole.owner());
  }
}

template <class T>
void expects_interval(T low, T high) {
  if (!(low < high) || !std::isfinite(high - low))
    throw PreconditionError("uniform numbers need low < high with a finite difference, not " +
                            in_words(low) + " and " + in_words(high));
}

}  // namespace detail

/// Fills an array or slice with random bits: elements of 32 or 64 bits.
template <detail::Target A>
  requires std::unsigned_integral<value_t<A>> && (sizeof(value_t<A>) >= 4)
void fill_bits(Key const& key, A&& target) {
  detail::fill_with(target, [&](auto const& exec, auto* data, std::int64_t count, std::int64_t) {
    detail::fill_bits(exec, key.words, data, count);
  });
}

/// Fills an array or slice with real numbers spread evenly over [low, high): multiples of
/// 2^-24 (high - low) in float, of 2^-53 (high - low) in double.
///
/// \param first  the number in C order, of those of the key, that the first element gets: for parts
///   of a larger array
/// \throws PreconditionError unless low < high and first >= 0
template <detail::Target A>
  requires RealElement<value_t<A>>
void fill_uniform(Key const& key, A&& target, value_t<A> low = 0, value_t<A> high = 1,
                  std::int64_t first = 0) {
  detail::expects_interval(low, high);
  expects(first >= 0, "the first random number must be number 0 of its key or a later one", first);
  detail::fill_with(
      target,
      [&](auto const& exec, auto* data, std::int64_t count, std::int64_t from) {
        detail::fill_uniform(exec, key.words, data, count, low, high, from);
      },
      first);
}

/// Fills an array or slice with normally distributed numbers, by the method of Box and Muller
/// (1958). A float takes 32 random bits and lies at most 6.8 deviations from the mean; a double
/// takes 53 and lies at most 8.7 from it.
///
/// \param first  as for fill_uniform()
/// \throws PreconditionError if the deviation or `first` is negative, or one of the parameters
///   isn't finite
template <detail::Target A>
  requires RealElement<value_t<A>>
void fill_normal(Key const& key, A&& target, value_t<A> mean = 0, value_t<A> deviation = 1,
                 std::int64_t first = 0) {
  expects(std::isfinite(mean), "the mean must be finite", mean);
  expects(std::isfinite(deviation) && deviation >= 0, "the deviation must be finite and 0 or more",
          deviation);
  expects(first >= 0, "the first random number must be number 0 of its key or a later one", first);
  detail::fill_with(
      target,
      [&](auto const& exec, auto* data, std::int64_t count, std::int64_t from) {
        detail::fill_normal(exec, key.words, data, count, mean, deviation, from);
      },
      first);
}

/// Fills an array or slice with integers of [low, high), all equally likely: relative errors of
/// probabilities are below 2^-32, and below 2^-64 for ranges beyond 2^32.
///
/// \throws PreconditionError unless low < high
template <detail::Target A>
  requires Integer<value_t<A>>
void fill_integers(Key const& key, A&& target, value_t<A> low, value_t<A> high) {
  if (!(low < high))
    throw PreconditionError("random integers need low < high, not " + std::to_string(low) +
                            " and " + std::to_string(high));
  std::uint64_t const range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  detail::fill_with(target, [&](auto const& exec, auto* data, std::int64_t count, std::int64_t) {
    detail::fill_integers(exec, key.words, data, count, low, range);
  });
}

// Functions that make an array. Shapes are lists of extents, {m, n}, or another array's shape().

/// Random bits: bits<std::uint64_t>(key, {n}).
template <std::unsigned_integral T = std::uint32_t, class Space = DefaultSpace, std::size_t Rank>
auto bits(Key const& key, std::array<std::int64_t, Rank> const& shape) {
  Array<T, static_cast<int>(Rank), Space> result(shape);
  fill_bits(key, result);
  return result;
}
template <std::unsigned_integral T = std::uint32_t, class Space = DefaultSpace, std::size_t Rank>
auto bits(Key const& key, std::int64_t const (&shape)[Rank]) {
  return bits<T, Space>(key, std::to_array(shape));
}

/// Real numbers spread evenly over [low, high): see fill_uniform.
template <RealElement T = double, class Space = DefaultSpace, std::size_t Rank>
auto uniform(Key const& key, std::array<std::int64_t, Rank> const& shape,
             std::type_identity_t<T> low = 0, std::type_identity_t<T> high = 1) {
  Array<T, static_cast<int>(Rank), Space> result(shape);
  fill_uniform(key, result, low, high);
  return result;
}
template <RealElement T = double, class Space = DefaultSpace, std::size_t Rank>
auto uniform(Key const& key, std::int64_t const (&shape)[Rank], std::type_identity_t<T> low = 0,
             std::type_identity_t<T> high = 1) {
  return uniform<T, Space>(key, std::to_array(shape), low, high);
}

/// Normally distributed numbers: see fill_normal.
template <RealElement T = double, class Space = DefaultSpace, std::size_t Rank>
auto normal(Key const& key, std::array<std::int64_t, Rank> const& shape,
            std::type_identity_t<T> mean = 0, std::type_identity_t<T> deviation = 1) {
  Array<T, static_cast<int>(Rank), Space> result(shape);
  fill_normal(key, result, mean, deviation);
  return result;
}
template <RealElement T = double, class Space = DefaultSpace, std::size_t Rank>
auto normal(Key const& key, std::int64_t const (&shape)[Rank], std::type_identity_t<T> mean = 0,
            std::type_identity_t<T> deviation = 1) {
  return normal<T, Space>(key, std::to_array(shape), mean, deviation);
}

/// Integers of [low, high): see fill_integers.
template <Integer T = std::int64_t, class Space = DefaultSpace, std::size_t Rank>
auto integers(Key const& key, std::array<std::int64_t, Rank> const& shape,
              std::type_identity_t<T> low, std::type_identity_t<T> high) {
  Array<T, static_cast<int>(Rank), Space> result(shape);
  fill_integers(key, result, low, high);
  return result;
}
template <Integer T = std::int64_t, class Space = DefaultSpace, std::size_t Rank>
auto integers(Key const& key, std::int64_t const (&shape)[Rank], std::type_identity_t<T> low,
              std::type_identity_t<T> high) {
  return integers<T, Space>(key, std::to_array(shape), low, high);
}

/// The integers 0 to count - 1 in random order: the order that sorts `count` random numbers of 64
/// bits. All orders are equally likely unless two of these numbers are equal, which has a
/// probability below count^2 / 2^65.
///
/// \throws PreconditionError if count is negative
template <class Space = DefaultSpace>
Array<std::int64_t, 1, Space> permutation(Key const& key, std::int64_t count) {
  auto numbers = bits<std::uint64_t, Space>(key, {count});
  Array<std::int64_t, 1, Space> order(numbers.shape());
  if (count > 0)
    coir::detail::argsort_random(
        coir::detail::immediate<typename Space::execution_space>("permutation()"), numbers.data(),
        order.data(), count);
  return order;
}

}  // namespace coir::random
