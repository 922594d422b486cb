#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <vector>

using coir::Shape;
using coir::fft::ComplexPlan;
using coir::fft::Effort;
using coir::fft::PlanOptions;
using coir::fft::RealPlan;
using namespace coir::testing;

namespace {

template <class C>
using Complex = Kokkos::complex<typename C::Real>;

/// Extents that take every path: 1, odd, prime, even; whole transforms by one call and columns by
/// blocks, the last one full or not; axes of one number.
template <std::size_t Rank>
std::vector<std::array<std::int64_t, Rank>> shapes() {
  if constexpr (Rank == 1)
    return {{1}, {2}, {3}, {16}, {37}, {100}, {509}};
  else if constexpr (Rank == 2)
    return {{1, 1}, {1, 8}, {8, 1}, {6, 5}, {16, 16}, {70, 67}, {62, 102}, {67, 80}, {300, 15}};
  else
    return {{1, 1, 1},   {2, 3, 4},   {7, 1, 5},   {17, 16, 18},
            {5, 30, 40}, {3, 70, 65}, {33, 64, 2}, {1, 8, 520}};
}

template <class C, std::size_t Rank>
void expect_real_transforms_are_the_definition(std::int64_t batch, bool in_place) {
  using T = typename C::Real;
  typename C::Exec const exec;
  for (auto const& shape : shapes<Rank>()) {
    SCOPED_TRACE(coir::in_words(shape) + " x " + std::to_string(batch));
    auto const half = half_of(shape);
    std::int64_t const n = shape[Rank - 1], row = half[Rank - 1], points = coir::size_of(shape);
    auto const values = some_values(static_cast<std::size_t>(batch * points), true);
    auto const expected = cut_rows(plain_dft(values, shape, -1), n, row);
    RealPlan<typename C::Exec, T, int(Rank)> const plan(exec, shape, batch,
                                                        {in_place, Effort::estimate});
    auto const spectrum = make_view<typename C::Exec, Complex<C>>(batch, half);
    double const bound = rounding<T>(points);
    Values again = values;
    for (auto& value : again) value *= double(points);
    if (in_place) {
      auto const padded = coir::fft::padded_real_view_of(spectrum);
      write(padded, cut_rows(values, n, 2 * row));
      plan.forward(padded, spectrum);
      exec.fence();
      EXPECT_LE(relative_error(read(spectrum), expected), bound);
      auto const real = coir::fft::real_view_of(spectrum, n);
      plan.backward(spectrum, real);
      exec.fence();
      EXPECT_LE(relative_error(cut_rows(read(padded), 2 * row, n), again), 2 * bound);
    } else {
      auto const real = make_view<typename C::Exec, T>(batch, shape);
      write(real, values);
      plan.forward(real, spectrum);
      exec.fence();
      EXPECT_EQ(read(real), values) << "forward has written its input";
      EXPECT_LE(relative_error(read(spectrum), expected), bound);
      plan.backward(spectrum, real);
      exec.fence();
      EXPECT_LE(relative_error(read(real), again), 2 * bound);
    }
  }
}

template <class C, std::size_t Rank>
void expect_complex_transforms_are_the_definition(std::int64_t batch, bool in_place) {
  using T = typename C::Real;
  typename C::Exec const exec;
  for (auto const& shape : shapes<Rank>()) {
    SCOPED_TRACE(coir::in_words(shape) + " x " + std::to_string(batch));
    std::int64_t const points = coir::size_of(shape);
    auto const values = some_values(static_cast<std::size_t>(batch * points), false);
    ComplexPlan<typename C::Exec, T, int(Rank)> const plan(exec, shape, batch,
                                                           {in_place, Effort::estimate});
    auto const in = make_view<typename C::Exec, Complex<C>>(batch, shape);
    auto const out = in_place ? in : make_view<typename C::Exec, Complex<C>>(batch, shape);
    for (int sign : {-1, +1}) {
      write(in, values);
      if (sign < 0)
        plan.forward(in, out);
      else
        plan.backward(in, out);
      exec.fence();
      EXPECT_LE(relative_error(read(out), plain_dft(values, shape, sign)), rounding<T>(points));
      if (!in_place) {
        EXPECT_EQ(read(in), values) << "the input was written";
      }
    }
  }
}

/// Its third argument begins where it should, but for `offset` numbers.
template <class C>
void expect_the_definition_off_alignment(std::int64_t offset) {
  using T = typename C::Real;
  typename C::Exec const exec;
  Shape<2> const shape{70, 67};
  auto const values = some_values(70 * 67, true);
  Kokkos::View<T*, typename C::Exec::memory_space> const block("block", 70 * 67 + 8);
  Kokkos::View<T**, Kokkos::LayoutRight, typename C::Exec::memory_space,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const real(block.data() + offset, 70, 67);
  Kokkos::View<Complex<C>**, Kokkos::LayoutRight, typename C::Exec::memory_space> const spectrum(
      "spectrum", 70, 34);
  write(real, values);
  RealPlan<typename C::Exec, T, 2> const plan(exec, shape, 1, {.effort = Effort::estimate});
  plan.forward(real, spectrum);
  exec.fence();
  EXPECT_LE(relative_error(read(spectrum), cut_rows(plain_dft(values, shape, -1), 67, 34)),
            rounding<T>(70 * 67));
}

/// In place, in memory that begins `offset` complex numbers after one that is aligned, between
/// numbers that must stay.
template <class C>
void expect_transforms_in_place_to_keep_to_their_memory(Shape<2> const& shape, std::int64_t batch,
                                                        std::int64_t offset) {
  using T = typename C::Real;
  using Exec = typename C::Exec;
  Exec const exec;
  SCOPED_TRACE(coir::in_words(shape) + " x " + std::to_string(batch) + " at " +
               std::to_string(offset));
  std::int64_t const n = shape[1], row = n / 2 + 1, points = coir::size_of(shape),
                     modes = batch * shape[0] * row, guard = 8;
  std::complex<double> const untouched(3, -5);
  auto const all = make_view<Exec, Complex<C>>(1, Shape<1>{modes + 2 * guard});
  Kokkos::View<Complex<C>***, Kokkos::LayoutRight, typename Exec::memory_space,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      spectrum(all.data() + offset, static_cast<std::size_t>(batch),
               static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(row));
  auto const values = some_values(static_cast<std::size_t>(batch * points), true);
  auto const rows = cut_rows(values, n, 2 * row);
  Values memory(static_cast<std::size_t>(modes + 2 * guard), untouched);
  for (std::size_t m = 0; m < static_cast<std::size_t>(modes); ++m)
    memory[m + static_cast<std::size_t>(offset)] = {rows[2 * m].real(), rows[2 * m + 1].real()};
  write(all, memory);

  RealPlan<Exec, T, 2> const plan(exec, shape, batch, {true, Effort::estimate});
  auto const real = coir::fft::real_view_of(spectrum, n);
  plan.forward(real, spectrum);
  exec.fence();
  EXPECT_LE(relative_error(read(spectrum), cut_rows(plain_dft(values, shape, -1), n, row)),
            rounding<T>(points));
  plan.backward(spectrum, real);
  exec.fence();
  auto expected = values;
  for (auto& value : expected) value *= double(points);
  EXPECT_LE(relative_error(cut_rows(read(coir::fft::padded_real_view_of(spectrum)), 2 * row, n),
                           expected),
            2 * rounding<T>(points));
  auto const left = read(all);
  for (std::int64_t m = 0; m < modes + 2 * guard; ++m)
    if (m < offset || m >= offset + modes) {
      EXPECT_EQ(left[static_cast<std::size_t>(m)], untouched) << m;
    }
}

COIR_TYPED_SUITE(Plan);

}  // namespace

TYPED_TEST(Plan, RealTransformsAreTheDefinition) {
  expect_real_transforms_are_the_definition<TypeParam, 1>(1, false);
  expect_real_transforms_are_the_definition<TypeParam, 2>(1, false);
  expect_real_transforms_are_the_definition<TypeParam, 3>(1, false);
}

TYPED_TEST(Plan, RealTransformsOfABatchAreTheDefinition) {
  expect_real_transforms_are_the_definition<TypeParam, 1>(3, false);
  expect_real_transforms_are_the_definition<TypeParam, 2>(17, false);
  expect_real_transforms_are_the_definition<TypeParam, 3>(2, false);
}

TYPED_TEST(Plan, RealTransformsInPlaceAreTheDefinition) {
  expect_real_transforms_are_the_definition<TypeParam, 1>(1, true);
  expect_real_transforms_are_the_definition<TypeParam, 1>(131, true);
  expect_real_transforms_are_the_definition<TypeParam, 2>(3, true);
  expect_real_transforms_are_the_definition<TypeParam, 3>(1, true);
}

// Of planes that one call transforms, several a call with some left at the end, and by rows and
// columns. FFTW likes other alignments better than that of one complex number.
TYPED_TEST(Plan, RealTransformsInPlaceKeepToTheirMemory) {
  for (Shape<2> const shape :
       {Shape<2>{1, 1}, {1, 7}, {7, 1}, {5, 3}, {31, 37}, {64, 32}, {70, 67}})
    for (std::int64_t const batch : {1, 2, 5, 19})
      for (std::int64_t const offset : {0, 1, 3})
        expect_transforms_in_place_to_keep_to_their_memory<TypeParam>(shape, batch, offset);
}

TYPED_TEST(Plan, ComplexTransformsAreTheDefinition) {
  expect_complex_transforms_are_the_definition<TypeParam, 1>(1, false);
  expect_complex_transforms_are_the_definition<TypeParam, 2>(1, false);
  expect_complex_transforms_are_the_definition<TypeParam, 3>(2, false);
}

TYPED_TEST(Plan, ComplexTransformsInPlaceAreTheDefinition) {
  expect_complex_transforms_are_the_definition<TypeParam, 1>(131, true);
  expect_complex_transforms_are_the_definition<TypeParam, 2>(1, true);
  expect_complex_transforms_are_the_definition<TypeParam, 3>(1, true);
}

TYPED_TEST(Plan, TakesDataOffTheUsualAlignment) {
  for (std::int64_t offset : {0, 1, 2, 3}) {
    if (coir::runs_on_host<typename TypeParam::Exec> || offset % 2 == 0)
      expect_the_definition_off_alignment<TypeParam>(offset);
    else
      EXPECT_THROW(expect_the_definition_off_alignment<TypeParam>(offset), coir::PreconditionError);
  }
}

TYPED_TEST(Plan, GivesTheSameBitsAgain) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  Shape<3> const shape{40, 30, 50};
  auto const real = make_view<typename TypeParam::Exec, T>(1, shape);
  auto const spectrum = make_view<typename TypeParam::Exec, Complex<TypeParam>>(1, half_of(shape));
  write(real, some_values(60000, true));
  RealPlan<typename TypeParam::Exec, T, 3> const plan(exec, shape);
  plan.forward(real, spectrum);
  exec.fence();
  auto const first = read(spectrum);
  for (int again = 0; again < 3; ++again) {
    plan.forward(real, spectrum);
    exec.fence();
    EXPECT_EQ(read(spectrum), first);
  }
}

TYPED_TEST(Plan, TakesViewsWithoutABatch) {
  TYPES_OF_CASE;
  typename TypeParam::Exec const exec;
  auto const values = some_values(6 * 8, true);
  Kokkos::View<T**, Kokkos::LayoutRight, Space> const real("real", 6, 8);
  Kokkos::View<Complex<TypeParam>**, Kokkos::LayoutRight, Space> const spectrum("spectrum", 6, 5);
  write(real, values);
  Kokkos::View<T const**, Kokkos::LayoutRight, Space> const constant = real;
  RealPlan<typename TypeParam::Exec, T, 2>(exec, Shape<2>{6, 8}).forward(constant, spectrum);
  exec.fence();
  EXPECT_LE(relative_error(read(spectrum), cut_rows(plain_dft(values, Shape<2>{6, 8}, -1), 8, 5)),
            rounding<T>(48));
}

TYPED_TEST(Plan, MadeTwiceIsMadeOnce) {
  using P = RealPlan<typename TypeParam::Exec, typename TypeParam::Real, 2>;
  typename TypeParam::Exec const exec;
  P const plan(exec, {16, 24});
  EXPECT_TRUE(plan.shares_with(P(exec, {16, 24})));
  EXPECT_TRUE(plan.shares_with(P(plan)));
  EXPECT_FALSE(plan.shares_with(P(exec, {24, 16})));
  EXPECT_FALSE(plan.shares_with(P(exec, {16, 24}, 2)));
  EXPECT_FALSE(plan.shares_with(P(exec, {16, 24}, 1, {.in_place = true})));
  coir::fft::clear_plan_cache();
  EXPECT_FALSE(plan.shares_with(P(exec, {16, 24})));
}

TYPED_TEST(Plan, OutlivesTheCache) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  auto const in = make_view<typename TypeParam::Exec, Complex<TypeParam>>(1, Shape<1>{8});
  auto const out = make_view<typename TypeParam::Exec, Complex<TypeParam>>(1, Shape<1>{8});
  write(in, Values(8, 1.));
  ComplexPlan<typename TypeParam::Exec, T, 1> const plan(exec, {8});
  coir::fft::clear_plan_cache();
  plan.forward(in, out);
  exec.fence();
  Values expected(8);
  expected[0] = 8;
  EXPECT_EQ(read(out), expected);
}

TYPED_TEST(Plan, TellsItsShape) {
  using P = RealPlan<typename TypeParam::Exec, typename TypeParam::Real, 3>;
  typename TypeParam::Exec const exec;
  Shape<3> const shape{40, 30, 50};
  PlanOptions const quick{.effort = Effort::estimate};
  P const plan(exec, shape, 2, quick);
  EXPECT_EQ(plan.shape(), shape);
  EXPECT_EQ(plan.batch(), 2);
  EXPECT_EQ(plan.size(), 60000);
}

TYPED_TEST(Plan, RefusesSizesBelowOne) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  using P = RealPlan<typename TypeParam::Exec, T, 2>;
  EXPECT_EQ(message_of([&] { P(exec, {4, 0}); }),
            "extents of a transform must be at least 1, not 0");
  EXPECT_EQ(message_of([&] { P(exec, {-3, 4}); }),
            "extents of a transform must be at least 1, not -3");
  EXPECT_EQ(message_of([&] { P(exec, {4, 4}, 0); }), "a plan's batch must be at least 1, not 0");
  EXPECT_THROW(P::work_bytes(exec, {4, 0}), coir::PreconditionError);
  std::int64_t const huge = std::int64_t(1) << 31;
  EXPECT_THROW(P(exec, {huge, huge}), coir::PreconditionError);
}

TYPED_TEST(Plan, RefusesWhatDoesNotFitIntoMemory) {
  std::int64_t const huge = std::int64_t(1) << 44;
  using P = RealPlan<typename TypeParam::Exec, typename TypeParam::Real, 1>;
  EXPECT_THROW(P(typename TypeParam::Exec{}, {huge}), coir::Error);
}

TYPED_TEST(Plan, RefusesViewsThatDoNotFit) {
  TYPES_OF_CASE;
  Exec const exec;
  Shape<2> const shape{6, 8};
  RealPlan<Exec, T, 2> const plan(exec, shape);
  auto const real = make_view<Exec, T>(1, shape);
  auto const spectrum = make_view<Exec, Complex<TypeParam>>(1, half_of(shape));
  EXPECT_EQ(message_of([&] { plan.forward(make_view<Exec, T>(1, Shape<2>{6, 9}), spectrum); }),
            "the input must have extent 8 along axis 2 for this plan, not 9");
  EXPECT_EQ(message_of([&] { plan.forward(real, make_view<Exec, Complex<TypeParam>>(1, shape)); }),
            "the output must have extent 5 along axis 2 for this plan, not 8");
  EXPECT_EQ(message_of([&] {
              plan.backward(make_view<Exec, Complex<TypeParam>>(2, half_of(shape)), real);
            }),
            "the input must have extent 1 along axis 0 for this plan, not 2");

  RealPlan<Exec, T, 2> const two(exec, shape, 2);
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> const single("single", 6, 8);
  EXPECT_EQ(message_of([&] { two.forward(single, spectrum); }),
            "the input must have the batch, 2, as its first axis, beside the 2 of the transform");
}

TYPED_TEST(Plan, RefusesTheWrongOverlap) {
  TYPES_OF_CASE;
  Exec const exec;
  Shape<2> const shape{6, 8};
  auto const a = make_view<Exec, Complex<TypeParam>>(1, shape);
  auto const b = make_view<Exec, Complex<TypeParam>>(1, shape);
  ComplexPlan<Exec, T, 2> const apart(exec, shape), in_place(exec, shape, 1, {.in_place = true});
  EXPECT_EQ(message_of([&] { apart.forward(a, a); }),
            "the input and the output overlap: make the plan with the option in_place");
  EXPECT_EQ(message_of([&] { in_place.backward(a, b); }),
            "a plan in place needs the input and the output at the same address");

  RealPlan<Exec, T, 2> const real(exec, shape, 1, {.in_place = true});
  auto const spectrum = make_view<Exec, Complex<TypeParam>>(1, half_of(shape));
  Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      unpadded(reinterpret_cast<T*>(spectrum.data()), 1, 6, 8);
  EXPECT_EQ(message_of([&] { real.forward(unpadded, spectrum); }),
            "the input must have stride 10 along axis 1, not 8: see coir::fft::real_view_of");
}

// Which threads take which columns must not show. What plans measure may differ, so they estimate.
TYPED_TEST(Plan, BatchesHaveTheBitsOfSingleTransforms) {
  TYPES_OF_CASE;
  Exec const exec;
  Shape<2> const shape{72, 90};
  auto const values = some_values(72 * 90, true);
  Values three;
  for (int copy = 0; copy < 3; ++copy) three.insert(three.end(), values.begin(), values.end());
  auto const real = make_view<Exec, T>(3, shape);
  auto const spectrum = make_view<Exec, Complex<TypeParam>>(3, half_of(shape));
  write(real, three);
  RealPlan<Exec, T, 2>(exec, shape, 3, {.effort = Effort::estimate}).forward(real, spectrum);
  exec.fence();
  auto const result = read(spectrum);
  std::size_t const one = result.size() / 3;
  for (std::size_t i = 0; i < one; ++i) {
    ASSERT_EQ(result[i], result[one + i]);
    ASSERT_EQ(result[i], result[2 * one + i]);
  }
}
