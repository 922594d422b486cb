#pragma once

/// \file
/// The kernels that random.hpp calls. They are compiled once, by src/array/random_impl.hpp, for the
/// default execution space and the default host one.

#include <coir/array/element.hpp>

#include <array>
#include <cstdint>

namespace coir::random::detail {

using Words = std::array<std::uint32_t, 4>;

/// The purpose of 128 random bits. It is part of each counter, so that numbers and derived keys
/// never come from the same counter.
enum class Purpose : std::uint32_t { numbers, split, fold };

/// 128 random bits: Threefry4x32-20 of a counter and a key.
Words threefry(Words const& counter, Words const& key);

/// The random bits of the counter (index, 0, purpose), in which the index takes two words.
Words words_at(Words const& key, std::uint64_t index, Purpose purpose);

/// data[0 ... count) = random bits; T is std::uint32_t or std::uint64_t.
template <class Exec, class T>
void fill_bits(Exec const& exec, Words const& key, T* data, std::int64_t count);

/// data[0 ... count) = real numbers spread evenly over [low, high), from number `first` of the key
/// on, which is a multiple of 4; T is float or double.
template <class Exec, class T>
void fill_uniform(Exec const& exec, Words const& key, T* data, std::int64_t count, T low, T high,
                  std::int64_t first);

template <class Exec, class T>
void fill_normal(Exec const& exec, Words const& key, T* data, std::int64_t count, T mean,
                 T deviation, std::int64_t first);

/// data[0 ... count) = low + (an integer in [0, range)); range is at least 1.
template <class Exec, class T>
void fill_integers(Exec const& exec, Words const& key, T* data, std::int64_t count, T low,
                   std::uint64_t range);

}  // namespace coir::random::detail
