#include <coir/fft/trigonometric.hpp>

#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/sanitizers.hpp>
#include <support/typed_suite.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using coir::Shape;
using coir::fft::Effort;
using coir::fft::inverse_of;
using coir::fft::Trigonometric;
using coir::fft::TrigonometricPlan;
using namespace coir::testing;

namespace {

constexpr Trigonometric kinds[] = {Trigonometric::dct1, Trigonometric::dct2, Trigonometric::dct3,
                                   Trigonometric::dct4, Trigonometric::dst1, Trigonometric::dst2,
                                   Trigonometric::dst3, Trigonometric::dst4, Trigonometric::dht};
constexpr char const* names[] = {"none", "dct1", "dct2", "dct3", "dct4",
                                 "dst1", "dst2", "dst3", "dst4", "dht"};

std::string name_of(Trigonometric kind) { return names[static_cast<int>(kind)]; }

/// The matrix of the definition. Angles are reduced to one turn in whole numbers, so that cosines
/// are as exact as long double.
class Matrix {
 public:
  Matrix(Trigonometric kind, std::int64_t n) : kind_(kind), n_(n) {
    of_ = kind == Trigonometric::dct1                          ? 2 * (n - 1)
          : kind == Trigonometric::dst1                        ? 2 * (n + 1)
          : kind == Trigonometric::dht                         ? n
          : is(Trigonometric::dct4) || is(Trigonometric::dst4) ? 8 * n
                                                               : 4 * n;
    constexpr long double pi = 3.14159265358979323846264338327950288L;
    for (std::int64_t i = 0; i < of_; ++i) {
      long double const angle =
          2 * pi * static_cast<long double>(i) / static_cast<long double>(of_);
      cosines_.push_back(std::cos(angle));
      sines_.push_back(std::sin(angle));
    }
  }

  long double at(std::int64_t k, std::int64_t j) const {
    auto const turn = [&](std::int64_t a, std::int64_t b) {
      return static_cast<std::size_t>(a * b % of_);
    };
    bool const is_last = j == n_ - 1;
    switch (kind_) {
      case Trigonometric::dct1: return (j == 0 || is_last ? 1 : 2) * cosines_[turn(j, k)];
      case Trigonometric::dct2: return 2 * cosines_[turn(2 * j + 1, k)];
      case Trigonometric::dct3: return (j == 0 ? 1 : 2) * cosines_[turn(j, 2 * k + 1)];
      case Trigonometric::dct4: return 2 * cosines_[turn(2 * j + 1, 2 * k + 1)];
      case Trigonometric::dst1: return 2 * sines_[turn(j + 1, k + 1)];
      case Trigonometric::dst2: return 2 * sines_[turn(2 * j + 1, k + 1)];
      case Trigonometric::dst3: return (is_last ? 1 : 2) * sines_[turn(j + 1, 2 * k + 1)];
      case Trigonometric::dst4: return 2 * sines_[turn(2 * j + 1, 2 * k + 1)];
      case Trigonometric::dht: return cosines_[turn(j, k)] + sines_[turn(j, k)];
      case Trigonometric::none: break;
    }
    return j == k ? 1 : 0;
  }

 private:
  bool is(Trigonometric kind) const { return kind_ == kind; }

  Trigonometric kind_;
  std::int64_t n_, of_;
  std::vector<long double> cosines_, sines_;
};

template <class C, int Rank>
using Field = Kokkos::View<coir::view_data_t<typename C::Real, Rank>, Kokkos::LayoutRight,
                           typename C::Exec::memory_space>;

template <class C, std::size_t Rank>
Field<C, int(Rank)> some_field(std::array<std::int64_t, Rank> const& shape) {
  auto const field = allocate<Laid::right, typename C::Real, Kokkos::HostSpace>(shape);
  for (std::size_t i = 0; i < field.size(); ++i)
    field.data()[i] = static_cast<typename C::Real>(std::sin(1.7 * double(i + 1)));
  return Kokkos::create_mirror_view_and_copy(typename C::Exec::memory_space{}, field);
}

template <class V>
auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

/// The largest difference from the definition along one axis of [before, n, after], in units in the
/// last place of the largest result.
template <class T, class X, class Y>
double ulps_from_definition(Trigonometric kind, X const& x, Y const& y, std::int64_t before,
                            std::int64_t n, std::int64_t after) {
  Matrix const matrix(kind, n);
  long double worst = 0, largest = 0;
  for (std::int64_t b = 0; b < before; ++b)
    for (std::int64_t a = 0; a < after; ++a)
      for (std::int64_t k = 0; k < n; ++k) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += matrix.at(k, j) * static_cast<long double>(x[(b * n + j) * after + a]);
        long double const found = y[(b * n + k) * after + a];
        worst = std::max(worst, std::abs(found - sum));
        largest = std::max(largest, std::abs(sum));
      }
  return static_cast<double>(worst / (largest * std::numeric_limits<T>::epsilon()));
}

COIR_TYPED_SUITE(TrigonometricTest);

}  // namespace

TYPED_TEST(TrigonometricTest, IsTheDefinitionForAllLengths) {
  TYPES_OF_CASE;
  std::vector<std::int64_t> lengths;
  std::int64_t const longest = is_sanitized ? 40 : 130;
  for (std::int64_t n = 1; n <= longest; ++n) lengths.push_back(n);
  // 251 is the largest prime of vectors of lines; types I of 250 and 252 have it, too.
  lengths.insert(lengths.end(), {215, 241, 250, 251, 252, 509, 1009});
  for (Trigonometric const kind : kinds)
    for (std::int64_t const n : lengths) {
      if (kind == Trigonometric::dct1 && n == 1) continue;
      SCOPED_TRACE(name_of(kind) + " of " + std::to_string(n));
      // So many lines that hosts make vectors of them, or few, or one.
      bool const many = n % 16 == 3 || n == 60 || n == 107 || n == 215;
      std::int64_t const lines = many                      ? 19
                                 : n >= 250 && n <= 252    ? 6
                                 : n % 16 == 5 || n == 241 ? 1
                                                           : 3;
      auto const rows = some_field<TypeParam, 2>({lines, n}),
                 columns = some_field<TypeParam, 2>({n, lines});
      Field<TypeParam, 2> const row_results("results", lines, n),
          column_results("results", n, lines);
      using Plan = TrigonometricPlan<Exec, T, 2>;
      Plan const along_rows(Exec{}, {lines, n}, {Trigonometric::none, kind}, 1, {Effort::estimate});
      along_rows.run(rows, row_results);
      Plan const along_columns(Exec{}, {n, lines}, {kind, Trigonometric::none}, 1,
                               {Effort::estimate});
      along_columns.run(columns, column_results);
      Kokkos::fence();
      EXPECT_LE(ulps_from_definition<T>(kind, on_host(rows).data(), on_host(row_results).data(),
                                        lines, n, 1),
                4);
      EXPECT_LE(ulps_from_definition<T>(kind, on_host(columns).data(),
                                        on_host(column_results).data(), 1, n, lines),
                4);
    }
}

TYPED_TEST(TrigonometricTest, TakesAKindForEachAxis) {
  TYPES_OF_CASE;
  Shape<3> const shape{5, 12, 9};
  auto const x = some_field<TypeParam, 3>(shape);
  std::array const mixed{Trigonometric::dst1, Trigonometric::dht, Trigonometric::dct2};
  Field<TypeParam, 3> const together("together", 5, 12, 9), apart("apart", 5, 12, 9);
  TrigonometricPlan<Exec, T, 3>(Exec{}, shape, mixed).run(x, together);
  Kokkos::deep_copy(apart, x);
  for (std::size_t d = 3; d-- > 0;) {
    std::array<Trigonometric, 3> one{};
    one[d] = mixed[d];
    TrigonometricPlan<Exec, T, 3>(Exec{}, shape, one).run(apart, apart);
  }
  Kokkos::fence();
  auto const a = on_host(together), b = on_host(apart);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 1e-3);
}

TYPED_TEST(TrigonometricTest, IsUndoneByTheInverseKind) {
  TYPES_OF_CASE;
  for (Trigonometric const kind : kinds) {
    SCOPED_TRACE(name_of(kind));
    Shape<2> const shape{18, 35};
    auto const x = some_field<TypeParam, 3>({2, 18, 35});
    auto const y = Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, x);
    Field<TypeParam, 3> const work("work", 2, 18, 35);
    TrigonometricPlan<Exec, T, 2> const there(Exec{}, shape, {kind, kind}, 2);
    Trigonometric const inverse = inverse_of(kind);
    TrigonometricPlan<Exec, T, 2> const back(Exec{}, shape, {inverse, inverse}, 2);
    there.run(x, work);
    back.run(work, work);
    Kokkos::fence();
    auto const expected = on_host(y), found = on_host(work);
    // Four transforms, each of which rounds by some units of the largest number.
    double const bound = 64 * double(std::numeric_limits<T>::epsilon());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(double(found.data()[i]) / there.factor(), double(expected.data()[i]), bound);
  }
}

TYPED_TEST(TrigonometricTest, TakesAnyLayout) {
  TYPES_OF_CASE;
  Shape<2> const shape{11, 14};
  auto const x = some_field<TypeParam, 2>({11, 14});
  TrigonometricPlan<Exec, T, 2> const plan(Exec{}, shape,
                                           {Trigonometric::dst2, Trigonometric::dct1});
  Field<TypeParam, 2> const expected("expected", 11, 14);
  plan.run(x, expected);
  auto const expect_same = [&](auto const& laid, std::string const& name) {
    auto const result = copy_as<Laid::with_gaps>(laid);
    plan.run(laid, result);
    plan.run(laid, laid);
    Kokkos::fence();
    auto const a = on_host(expected), b = on_host(copy_as<Laid::right>(result)),
               c = on_host(copy_as<Laid::right>(laid));
    double const bound = 64 * double(std::numeric_limits<T>::epsilon()) * 14;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(double(a.data()[i]), double(b.data()[i]), bound) << name;
      ASSERT_NEAR(double(a.data()[i]), double(c.data()[i]), bound) << name;
    }
  };
  expect_same(copy_as<Laid::left>(x), "left");
  expect_same(copy_as<Laid::apart>(x), "apart");
  expect_same(copy_as<Laid::turned>(x), "turned");
}

TYPED_TEST(TrigonometricTest, RefusesWhatItCannotTransform) {
  TYPES_OF_CASE;
  using Plan = TrigonometricPlan<Exec, T, 1>;
  auto const says = [](auto const& action, std::string const& text) {
    std::string const message = message_of(action);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  Exec const exec;
  says([&] { Plan(exec, {0}, {Trigonometric::dst1}); }, "must be at least 1, not 0");
  says([&] { Plan(exec, {1}, {Trigonometric::dct1}); }, "at least 2 numbers along its axis, not 1");
  says([&] { Plan(exec, {4}, {Trigonometric::dct2}, 0); }, "batch must be at least 1, not 0");
  Plan const plan(exec, {4}, {Trigonometric::dct2});
  Field<TypeParam, 1> const five("five", 5), four("four", 4);
  says([&] { plan.run(five, four); }, "the input must have extent 4 along axis 0");
  says([&] { plan.run(four, five); }, "the output must have extent 4 along axis 0");
  auto const at = [&](std::size_t first) {
    return Kokkos::subview(five, std::pair(first, first + 4));
  };
  says([&] { plan.run(at(0), at(1)); }, "must be the same View, or not overlap");
}
