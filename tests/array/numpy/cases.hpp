#pragma once

/// \file
/// Statements on arrays with NumPy's answers: what generate.py writes, and how coir's are found for
/// them.

#include <coir/array/creation.hpp>
#include <coir/array/slices.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::testing::numpy {

/// The place of a type among others; -1 if it is none of them.
template <class T, class... All>
constexpr int place_among() {
  int place = 0;
  bool const found = ((std::is_same_v<T, All> || (++place, false)) || ...);
  return found ? place : -1;
}

/// The element types, numbered as in generate.py.
template <class T>
inline constexpr int code =
    place_among<T, bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                std::uint32_t, std::int64_t, std::uint64_t, float, double, Kokkos::complex<float>,
                Kokkos::complex<double>>();

inline constexpr std::array<std::size_t, 13> bytes_of{1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};

/// An array's elements in C order. A single number has no axes.
struct Values {
  int type = -1;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// An array, and the part of it that the statement takes: along each axis the extent, start, stop
/// and step.
struct Operand {
  int type = -1;
  std::vector<std::array<std::int64_t, 4>> axes;
  std::vector<std::byte> bytes;
};

struct Case {
  std::string name;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<Operand> operands;
  bool refused = false;       ///< NumPy raises an OverflowError
  bool strict = false;        ///< zeros have the same sign
  double ulps = 0;            ///< by how much results may differ,
  std::vector<double> slack;  ///< or how much each, if there are any
  Values result;
};

/// What finds coir's answer to the cases of each name.
using Statement = Values (*)(Case const&);
inline std::map<std::string, Statement>& statements() {
  static std::map<std::string, Statement> all;
  return all;
}
struct Register {
  Register(char const* name, Statement statement) { statements()[name] = statement; }
};

template <class T>
T number_of(Operand const& operand) {
  T value;
  std::memcpy(&value, operand.bytes.data(), sizeof(T));
  return value;
}

/// An operand as a slice.
template <class T, int Rank>
auto array_of(Operand const& operand) {
  Shape<Rank> shape{};
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = operand.axes.at(d)[0];
  auto const size = static_cast<std::size_t>(size_of(shape));
  auto const elements = std::make_unique<T[]>(size);
  if (size > 0) std::memcpy(elements.get(), operand.bytes.data(), size * sizeof(T));
  auto whole = from_span(std::span<T const>(elements.get(), size), shape);
  if constexpr (Rank == 0) {
    return whole.all();
  } else {
    constexpr std::int64_t open = 32767;
    return [&]<std::size_t... D>(std::index_sequence<D...>) {
      return whole(range(operand.axes[D][1],
                         operand.axes[D][2] == open ? Bound(end) : operand.axes[D][2],
                         operand.axes[D][3])...);
    }(std::make_index_sequence<Rank>{});
  }
}

template <class T>
Values values_of(T const* elements, std::vector<std::int64_t> shape) {
  static_assert(code<T> >= 0);
  Values result{code<T>, std::move(shape), {}};
  std::size_t size = sizeof(T);
  for (std::int64_t const n : result.shape) size *= static_cast<std::size_t>(n);
  result.bytes.resize(size);
  if (size > 0) std::memcpy(result.bytes.data(), elements, size);
  return result;
}

template <Expression E>
Values values_of(E const& expression) {
  auto const host = to_host(expression);
  return values_of(host.data(), {host.shape().begin(), host.shape().end()});
}
template <Scalar T>
Values values_of(T const& number) {
  return values_of(&number, {});
}

/// One of some values by its number, as the type that arrays of theirs combine to.
struct Choose {
  int wanted;

  template <class... T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const&... values) const {
    return from(0, values...);
  }

 private:
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T from(int, T const& only) const {
    return only;
  }
  template <class T, class... Rest>
  KOKKOS_FORCEINLINE_FUNCTION auto from(int i, T const& first, Rest const&... rest) const {
    auto const other = from(i + 1, rest...);
    using Both = promote_t<T, std::remove_const_t<decltype(other)>>;
    return wanted == i ? static_cast<Both>(first) : static_cast<Both>(other);
  }
};

/// The i-th of some expressions of one shape, which are all computed: one kernel for all of them
/// takes less to compile than one each.
template <class... E>
Values value_of_chosen(std::int64_t wanted, E const&... expressions) {
  return values_of(map(Choose{static_cast<int>(wanted)}, expressions...));
}

/// Two types for which statements are compiled.
template <class A, class B>
struct Pair {
  template <template <class, class> class F>
  static bool find(int a, int b, Case const& c, Values& result) {
    if (a != code<A> || b != code<B>) return false;
    result = F<A, B>::of(c);
    return true;
  }
};

/// F<A, B>::of(c) for the types of the case's first two operands, which are one of the pairs'.
template <template <class, class> class F, class... Pairs>
Values with_types(Case const& c) {
  int const a = c.operands.at(0).type, b = c.operands.at(1).type;
  Values result;
  if (!(Pairs::template find<F>(a, b, c, result) || ...))
    throw std::logic_error(c.name + " isn't compiled for these types");
  return result;
}

/// F<T>::of(c) for the type of the case's first operand.
template <template <class> class F, class... T>
Values with_type(Case const& c) {
  int const type = c.operands.at(0).type;
  Values result;
  bool const found = ((type == code<T> && (result = F<T>::of(c), true)) || ...);
  if (!found) throw std::logic_error(c.name + " isn't compiled for this type");
  return result;
}

}  // namespace coir::testing::numpy
