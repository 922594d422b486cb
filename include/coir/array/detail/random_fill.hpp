#pragma once

/// \file
/// What random.hpp calls: kernels that are compiled once, in src/array/random.cpp, for the default
/// execution space and the default host one.

#include <coir/array/element.hpp>

#include <array>
#include <cstdint>

namespace coir::random::detail {

using Words = std::array<std::uint32_t, 4>;

/// What 128 random bits are for: it enters each counter, so that numbers and derived keys have nothing in
/// common.
enum class Purpose : std::uint32_t { numbers, split, fold };

/// Threefry4x32-20 itself.
Words threefry(Words const& counter, Words const& key);

/// What it makes of the counter (index, 0, purpose), the index in two words.
Words words_at(Words const& key, std::uint64_t index, Purpose purpose);

/// data[0 ... count) = random bits; T is std::uint32_t or std::uint64_t.
template <class Exec, class T>
void fill_bits(Exec const& exec, Words const& key, T* data, std::int64_t count);

/// In [low, high); T is float or double.
template <class Exec, class T>
void fill_uniform(Exec const& exec, Words const& key, T* data, std::int64_t count, T low, T high);

template <class Exec, class T>
void fill_normal(Exec const& exec, Words const& key, T* data, std::int64_t count, T mean,
                 T deviation);

/// low + (an integer in [0, range)); range is at least 1.
template <class Exec, class T>
void fill_integers(Exec const& exec, Words const& key, T* data, std::int64_t count, T low,
                   std::uint64_t range);

}  // namespace coir::random::detail
