// Transforms over ranks beside those of the whole field on one.

#include <coir/core/loops.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using coir::Shape;
using coir::fft::Effort;
using coir::testing::world;

template <class Exec, class T>
using Spectrum =
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class T>
Spectrum<Exec, T> allocate(Shape<3> const& extents) {
  return Spectrum<Exec, T>("test", static_cast<std::size_t>(extents[0]),
                           static_cast<std::size_t>(extents[1]),
                           static_cast<std::size_t>(extents[2]));
}

/// Numbers of a whole field in rows of complex numbers, the same on every rank; what no transform reads is 0.
template <class T>
std::vector<std::complex<T>> whole_field(Shape<3> const& shape, std::int64_t row, bool real) {
  std::mt19937 random(7);
  std::vector<std::complex<T>> numbers(static_cast<std::size_t>(shape[0] * shape[1] * row));
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto* const reals = reinterpret_cast<T*>(numbers.data());
  for (std::int64_t line = 0; line < shape[0] * shape[1]; ++line)
    for (std::int64_t k = 0; k < (real ? shape[2] : 2 * row); ++k)
      reals[2 * line * row + k] = static_cast<T>(uniform(random));
  return numbers;
}

/// What a View holds, and a View that holds it.
template <class V>
auto numbers_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  using T = typename V::value_type::value_type;
  auto const* const first = reinterpret_cast<std::complex<T> const*>(host.data());
  return std::vector<std::complex<T>>(first, first + host.size());
}
template <class V, class T>
void fill(V const& view, std::complex<T> const* numbers) {
  auto const host = Kokkos::create_mirror_view(view);
  if (host.size() > 0)
    std::memcpy(static_cast<void*>(host.data()), numbers, host.size() * sizeof(*numbers));
  Kokkos::deep_copy(view, host);
}

template <class T>
struct Damp {
  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return T(1) / static_cast<T>(1 + i + 2 * j + 3 * k);
  }
};

/// Compares this rank's part with the whole: in bits on hosts.
template <class Exec, class T>
void expect_part(std::vector<std::complex<T>> const& part,
                 std::vector<std::complex<T>> const& expected, std::string const& what) {
  ASSERT_EQ(part.size(), expected.size()) << what;
  if (coir::runs_on_host<Exec>) {
    auto const* const here = reinterpret_cast<T const*>(part.data());
    auto const* const there = reinterpret_cast<T const*>(expected.data());
    for (std::size_t n = 0; n < 2 * part.size(); ++n)
      ASSERT_TRUE(here[n] == there[n] && std::signbit(here[n]) == std::signbit(there[n]))
          << what << ", number " << n << ": " << here[n] << " and " << there[n];
    return;
  }
  double largest = 0, difference = 0;
  for (std::size_t n = 0; n < part.size(); ++n) {
    largest = std::max(largest, static_cast<double>(std::abs(expected[n])));
    difference = std::max(difference, static_cast<double>(std::abs(part[n] - expected[n])));
  }
  // 4e-7 in float for each of two transforms, and as many roundings in double.
  EXPECT_LE(difference, 7 * std::numeric_limits<T>::epsilon() * largest) << what;
}

/// Rows [first, first + count) of axis 1 of a whole spectrum.
template <class T>
std::vector<std::complex<T>> rows_of(std::vector<std::complex<T>> const& whole,
                                     Shape<3> const& extents, coir::distributed::Share rows) {
  std::vector<std::complex<T>> part;
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    auto const first = whole.begin() + (i * extents[1] + rows.first) * extents[2];
    part.insert(part.end(), first, first + rows.count * extents[2]);
  }
  return part;
}

template <class Exec, class T, bool OfReal>
auto plan_of_whole(Shape<3> const& shape) {
  coir::fft::PlanOptions const options{
      .in_place = true, .effort = Effort::estimate, .by_planes = true};
  if constexpr (OfReal)
    return coir::fft::RealPlan<Exec, T, 3>(Exec(), shape, 1, options);
  else
    return coir::fft::ComplexPlan<Exec, T, 3>(Exec(), shape, 1, options);
}

template <class Exec, class T, bool OfReal>
void compare(Shape<3> const& shape) {
  using coir::fft::real_view_of;
  std::string const name = std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" +
                           std::to_string(shape[2]) + (OfReal ? " real" : " complex");
  coir::fft::Slab<Exec, T, OfReal> const slab(Exec(), world(), shape, {.effort = Effort::estimate});
  std::int64_t const row = slab.field_extents()[2];
  Shape<3> const extents{shape[0], shape[1], row};
  auto const numbers = whole_field<T>(shape, row, OfReal);
  auto const whole = allocate<Exec, T>(extents);
  auto const plan = plan_of_whole<Exec, T, OfReal>(shape);
  auto const on_whole = [&](bool forward) {
    auto const other = [&] {
      if constexpr (OfReal)
        return real_view_of(whole, shape[2]);
      else
        return whole;
    }();
    if (forward)
      plan.forward(other, whole);
    else
      plan.backward(whole, other);
  };
  fill(whole, numbers.data());
  on_whole(true);
  auto const spectrum_of_whole = numbers_of(whole);

  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  std::int64_t const first = slab.planes().first * shape[1] * row;
  fill(field, numbers.data() + first);
  slab.forward(field, spectrum);
  expect_part<Exec>(numbers_of(spectrum), rows_of(spectrum_of_whole, extents, slab.rows()),
                    name + " forward");

  auto const planes_of = [&](std::vector<std::complex<T>> const& all) {
    auto const from = all.begin() + first;
    return std::vector<std::complex<T>>(from, from + slab.planes().count * shape[1] * row);
  };
  // What lies beyond a row's real numbers means nothing.
  auto const meaningful = [&](std::vector<std::complex<T>> all) {
    auto* const reals = reinterpret_cast<T*>(all.data());
    if (OfReal)
      for (std::size_t line = 0; line < all.size() / static_cast<std::size_t>(row); ++line)
        for (std::int64_t k = shape[2]; k < 2 * row; ++k)
          reals[2 * static_cast<std::int64_t>(line) * row + k] = 0;
    return all;
  };
  slab.backward(spectrum, field);
  on_whole(false);
  expect_part<Exec>(meaningful(numbers_of(field)), meaningful(planes_of(numbers_of(whole))),
                    name + " backward");

  if constexpr (OfReal) {
    fill(field, numbers.data() + first);
    slab.filter(field, spectrum, Damp<T>{});
    fill(whole, numbers.data());
    plan.filter(real_view_of(whole, shape[2]), whole, Damp<T>{});
    expect_part<Exec>(meaningful(numbers_of(field)), meaningful(planes_of(numbers_of(whole))),
                      name + " filter");
  }
}

template <class Case>
class Slab : public ::testing::Test {};
TYPED_TEST_SUITE(Slab, coir::testing::Cases, coir::testing::CaseName);

// Extents that don't divide, primes, fewer planes than ranks, planes that fit a cache and others, several chunks of them.
TYPED_TEST(Slab, EqualsThePlanOfTheWholeField) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Shape<3> const shape : {Shape<3>{1, 1, 1},
                               {2, 3, 4},
                               {3, 2, 5},
                               {8, 8, 8},
                               {16, 16, 16},
                               {13, 11, 7},
                               {32, 32, 32},
                               {5, 1, 9},
                               {1, 6, 4},
                               {21, 256, 130},
                               {6, 400, 330}})
    compare<Exec, T, true>(shape);
  // Planes by rows and columns. With more ranks it takes long.
  if (world().size() <= 3) compare<Exec, T, true>({2, 1032, 1024});
}

TYPED_TEST(Slab, EqualsThePlanOfTheWholeComplexField) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Shape<3> const shape : {Shape<3>{1, 1, 1}, {3, 2, 5}, {16, 16, 16}, {13, 11, 7}})
    compare<Exec, T, false>(shape);
}

TYPED_TEST(Slab, MovesNoByteMoreThanItMust) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const ranks = world().size(), n = 2 * ranks;
  coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, n});
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const sent = [&](auto const& call) {
    std::int64_t const before = world().traffic("fft/transpose").bytes;
    call();
    return world().traffic("fft/transpose").bytes - before;
  };
  std::int64_t const whole = n * n * (n / 2 + 1) * 2 * static_cast<std::int64_t>(sizeof(T));
  std::int64_t const once = whole / (ranks * ranks) * (ranks - 1);
  EXPECT_EQ(sent([&] { slab.forward(field, spectrum); }), once);
  EXPECT_EQ(sent([&] { slab.backward(spectrum, field); }), once);
  EXPECT_EQ(sent([&] { slab.filter(field, spectrum, Damp<T>{}); }), 2 * once);
}

// Two of one shape share plans, those of the other precision don't; each has a field of its own.
TYPED_TEST(Slab, WorksBesideAnotherOne) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  Shape<3> const shape{9, 10, 12};
  coir::fft::PlanOptions const options{.effort = Effort::estimate};
  coir::fft::RealSlab<Exec, T> const first(Exec(), world(), shape, options);
  auto const second =
      std::make_unique<coir::fft::RealSlab<Exec, T>>(Exec(), world(), shape, options);
  coir::fft::RealSlab<Exec, Other> const third(Exec(), world(), shape, options);
  Shape<3> const extents = first.field_extents(), of_rows = first.spectrum_extents();
  auto const numbers = whole_field<T>(shape, extents[2], true);
  auto const mine = numbers.data() + first.planes().first * shape[1] * extents[2];
  auto const a = allocate<Exec, T>(extents), b = allocate<Exec, T>(extents),
             modes_a = allocate<Exec, T>(of_rows), modes_b = allocate<Exec, T>(of_rows);
  auto const c = allocate<Exec, Other>(extents), modes_c = allocate<Exec, Other>(of_rows);
  fill(a, mine);
  fill(b, mine);
  first.forward(a, modes_a);
  third.forward(c, modes_c);
  second->forward(b, modes_b);
  expect_part<Exec>(numbers_of(modes_b), numbers_of(modes_a), "of another slab");
  auto const copy = *second;
  first.backward(modes_a, a);
  copy.backward(modes_b, b);
  EXPECT_EQ(first.work_bytes(), copy.work_bytes());
  expect_part<Exec>(numbers_of(b), numbers_of(a), "of a copy");
}

// What is wrong on one rank is told on all.
TYPED_TEST(Slab, RefusesOtherShapesOnOtherRanks) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  if (world().size() == 1) return;
  Shape<3> const shape{4, 4, world().rank() == 1 ? 6 : 4};
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::fft::RealSlab<Exec, T>(Exec(), world(), shape); }),
      "all ranks must transform a field of the same extents, not (4, 4, 4) and (4, 4, 6)");
}

TYPED_TEST(Slab, RefusesViewsThatDoNotFit) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const n = 2 * world().size();
  coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, 4});
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const wrong = world().rank() == world().size() - 1
                         ? allocate<Exec, T>({slab.planes().count + 1, n, 3})
                         : field;
  EXPECT_EQ(coir::testing::message_of([&] { slab.forward(wrong, spectrum); }),
            "the field of this rank must have extent 2 along axis 0, not 3");
  EXPECT_EQ(coir::testing::message_of([&] { slab.backward(field, field); }),
            world().size() == 1
                ? "a field over ranks and its spectrum need memory of their own: they overlap"
                : "the spectrum of this rank must have extent " + std::to_string(n) +
                      " along axis 0, not 2");
}

TYPED_TEST(Slab, RefusesEmptyFields) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::fft::RealSlab<Exec, T>(Exec(), world(), {4, 0, 4}); }),
      "extents of a transform must be at least 1, not 0");
}

}  // namespace
