// Gradients through slices, shifted ones among them, and other moves of elements, beside those of
// JAX and differences of values.

#include <autodiff/program_grad.hpp>

#include <coir/core/pool.hpp>

#include <support/message_of.hpp>

#include <string_view>
#include <utility>

using coir::Array;
using coir::end;
using coir::newaxis;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::expect_same_in_float;
using coir::testing::numbers_of;
using coir::testing::waves;

namespace {

Array<double, 1> const& w8() {
  static Array<double, 1> const w = waves(3, 8);
  return w;
}

struct ShiftedDifference {
  template <class X>
  auto operator()(X const& x) const {
    return sum(square(x(range(1, end)) - x(range(0, -1))));
  }
};

struct JacobiResidual {
  template <class U, class B>
  auto operator()(U const& u, B const& b) const {
    auto const inner = range(1, -1), before = range(0, -2), after = range(2, end);
    return sum(square(b(inner, inner) - (4 * u(inner, inner) - u(before, inner) - u(after, inner) -
                                         u(inner, before) - u(inner, after))));
  }
};

template <class M>
auto x_of_largest(M const& m) {
  return ravel(m)(argmax(m));
}

struct Parts {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(sin(x));
    auto const old = u(range(1, 3));
    u(range(1, -1)) = u(range(2, end)) * u(range(0, -2));
    u(0) = 2 * u(1);
    u(range(0, 2)) += 3 * x(range(2, 4));
    u(-1) = 0.5;
    u(range(2, 4)) = waves(3, 2);
    u(range(3, 5)) *= sum(x);
    for (int i = 1; i < 4; ++i) u(i) = u(i - 1) + square(u(i));
    return sum(square(u)) / 10 + sum(old);
  }
};

struct RowsAndColumns {
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    auto u = evaluate(x / 2);
    u(range(), 1) = y;
    u(1) = y(0);
    auto v = transpose(u);
    v(0, range()) = sum(y);
    return sum(sin(u * v));
  }
};

}  // namespace

TEST(ProgramGradMoves, SlicesOfAnArgument) {
  auto const x = waves(0, 8);
  expect_gradient("shifted difference", 5.012152461709186, {10.030063909100505},
                  ShiftedDifference{}, x);
  expect_gradient(
      "every second element", 0.6147863671216893, {1.0201595237716028},
      [](auto x) { return sum(exp(x(range(0, end, 2))) * x(range(1, end, 2))); }, x);
  expect_gradient(
      "reversed", -0.5769449374326764, {-0.93888402454013},
      [](auto x) { return sum(sin(x) * flip(x) * w8()); }, x);
  expect_gradient(
      "elements", 0.9420770788761876, {1.90338184568774},
      [](auto x) { return x(0) * sum(x) + square(x(-1)); }, x);
  expect_gradient(
      "row and column", 3.034613719502097, {6.252410849080733},
      [](auto m) { return sum(m(1) * exp(m(range(), 2))); }, waves(0, 4, 4));
}

TEST(ProgramGradMoves, StencilsByShiftedSlices) {
  expect_gradient("jacobi residual", 46.13867329865857, {106.02880042431079, -13.672382754790718},
                  JacobiResidual{}, waves(0, 5, 6), waves(1, 5, 6));
  expect_gradient(
      "second differences", 6.967530199254801, {13.90019270839681},
      [](auto x) { return sum(square(diff(x, 2))); }, waves(0, 8));
  expect_gradient(
      "heat equation", 0.5071071383773742, {1.0064847406873885},
      [](auto x) {
        auto u = evaluate(x);
        for (int step = 0; step < 5; ++step) u = u + 0.2 * (roll(u, 1) - 2 * u + roll(u, -1));
        return sum(square(u));
      },
      waves(0, 8));
}

// All reads of an array by one statement are brought back together: each with the opposite shift.
TEST(ProgramGradMoves, RollsOfAnyShape) {
  std::array<std::int64_t, 2> const shapes[] = {{1, 1},  {1, 7},   {7, 1},   {2, 3},   {4, 4},
                                                {5, 31}, {3, 521}, {521, 3}, {3, 1301}};
  for (auto const& shape : shapes)
    for (auto const& [down, right] : {std::pair(1, 0), {0, -1}, {-2, 3}, {1, 600}}) {
      auto const u = waves(0, shape[0], shape[1]), w = waves(2, shape[0], shape[1]);
      auto const moved = [&, down = down, right = right](auto const& x, int sign) {
        return roll(x, {sign * down, sign * right}, {0, 1});
      };
      // Sums of at most four products, none of which is above 3.
      double const rounding = 12 * 2.3e-16;
      auto const linear = coir::grad([&](auto u) {
        return sum(w * (3 * u - 0.5 * moved(u, 1) + w + (roll(u, -1, 1) - moved(moved(u, 1), 1))));
      })(u);
      EXPECT_TRUE(all(abs(linear - (3 * w - 0.5 * moved(w, -1) + roll(w, 1, 1) -
                                    moved(moved(w, -1), -1))) < rounding))
          << shape[0] << " x " << shape[1] << " by " << down << ", " << right;
      auto const [product, weights] = coir::grad([&](auto u, auto w) {
        return sum(evaluate(w * u * moved(u, 1) + 0.5 * roll(u, 1, 0)));
      })(u, w);
      EXPECT_TRUE(all(abs(product - (w * moved(u, 1) + moved(w * u, -1) + 0.5)) < rounding));
      EXPECT_TRUE(all(abs(weights - u * moved(u, 1)) < rounding));
    }
}

TEST(ProgramGradMoves, RollsOfPartsAndPartsOfRolls) {
  auto const x = waves(0, 6, 5), w = waves(1, 6, 5);
  Array<double, 2> expected = coir::zeros<double>(6, 5);
  auto const inner = range(1, 5);
  expected(inner, range()) = roll(w(inner, range()), -2, 0);
  EXPECT_TRUE(allclose(
      coir::grad([&](auto x) { return sum(w(inner, range()) * roll(x(inner, range()), 2, 0)); })(x),
      expected));
  expected = coir::zeros<double>(6, 5);
  expected(range(0, 4), range()) = w(inner, range());
  EXPECT_TRUE(allclose(
      coir::grad([&](auto x) { return sum(w(inner, range()) * roll(x, 1, 0)(inner, range())); })(x),
      expected));
  Array<double, 2> const square_of = x(range(0, 5), range()), by = w(range(0, 5), range());
  EXPECT_TRUE(allclose(
      coir::grad([&](auto m) { return sum(by * (m * transpose(m) + roll(transpose(m), 1, 0))); })(
          square_of),
      by * transpose(square_of) + transpose(by * square_of) + transpose(roll(by, -1, 0))));
  auto const [of_matrix, of_row] = coir::grad([&](auto m, auto v) {
    return sum(w * (m * roll(m, 1, 1) * v - v));
  })(x, Array<double, 1>(x(0)));
  EXPECT_TRUE(allclose(of_matrix, x(0) * (w * roll(x, 1, 1)) + roll(x(0) * (w * x), -1, 1)));
  EXPECT_TRUE(allclose(of_row, sum(w * x * roll(x, 1, 1) - w, 0)));
  for (std::int64_t const rows : {1, 6}) {  // a vector, rolled and stretched
    auto const part = range(0, rows);
    auto const of_rolled = coir::grad([&](auto v) {
      return sum(w(part, range()) * (x(part, range()) * roll(v, 2) - 3 * roll(v, 1)));
    })(Array<double, 1>(x(0)));
    EXPECT_TRUE(allclose(of_rolled, roll(sum(w(part, range()) * x(part, range()), 0), -2) -
                                        3 * roll(sum(w(part, range()), 0), -1)));
  }
}

TEST(ProgramGradMoves, ShiftedSlicesOfMatrices) {
  auto const later = range(1, end), before = range(0, -1);
  for (auto const& [m, n] : {std::pair(2, 2), {3, 5}, {2, 700}, {700, 3}, {2, 1}}) {
    auto const u = waves(0, m, n), w = waves(1, m - 1, n - 1);
    auto const product = numbers_of(coir::grad([&](auto u) {
      return sum(w * (u(later, before) * u(before, later) - 2 * u(later, later)));
    })(u));
    auto const linear = numbers_of(coir::grad([&](auto u) {
      return sum(w * (u(later, before) - 3 * u(before, later) + 0.5 * u(before, before)));
    })(u));
    auto const at = numbers_of(u), weight = numbers_of(w);
    std::vector<double> of_product(at.size(), 0), of_linear(at.size(), 0);
    for (int i = 0; i + 1 < m; ++i)
      for (int j = 0; j + 1 < n; ++j) {
        auto const here = static_cast<std::size_t>(i * n + j), below = here + std::size_t(n);
        double const c = weight[static_cast<std::size_t>(i * (n - 1) + j)];
        of_product[below] += c * at[here + 1];
        of_product[here + 1] += c * at[below];
        of_product[below + 1] -= 2 * c;
        of_linear[below] += c;
        of_linear[here + 1] -= 3 * c;
        of_linear[here] += 0.5 * c;
      }
    for (std::size_t k = 0; k < at.size(); ++k) {
      ASSERT_NEAR(product[k], of_product[k], 12 * 2.3e-16) << m << " x " << n << ", " << k;
      ASSERT_NEAR(linear[k], of_linear[k], 12 * 2.3e-16) << m << " x " << n << ", " << k;
    }
  }
  auto const x = coir::array({2., 3., 5., 7.});
  EXPECT_EQ(numbers_of(coir::grad([](auto x) {
              return x(0) * x(-1) - x(1) * x(0) +
                     sum(x(range(0, 1)) - 4 * x(range(2, 3)) + 0.5 * x(range(0, 1)));
            })(x)),
            (std::vector<double>{5.5, -2, -4, 2}));
}

namespace {

struct Diffusion {
  int steps;
  std::int64_t* held;  // bytes of arrays that the steps keep
  template <class X>
  auto operator()(X const& x) const {
    auto const in_use = [] { return coir::MemoryPool<coir::DefaultSpace>::statistics().in_use; };
    auto u = evaluate(1 * x);
    std::int64_t const before = in_use();
    for (int step = 0; step < steps; ++step)
      u = u + 0.1 * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u);
    *held = in_use() - before;
    return sum(square(u));
  }
};

int launches = 0;
void count_launch(char const* label, std::uint32_t, std::uint64_t*) {
  launches += std::string_view(label).starts_with("coir::");
}

int launches_back_and_forth(int steps) {
  std::int64_t held = 0;
  launches = 0;
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(count_launch);
  coir::grad(Diffusion{steps, &held})(waves(0, 8, 9));
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  return launches;
}

}  // namespace

TEST(ProgramGradMoves, LinearStatementsKeepNoValues) {
  std::int64_t held = 0;
  auto const x = waves(0, 64, 64);
  coir::grad(Diffusion{30, &held})(x);
  EXPECT_LE(held, 2 * x.size() * std::int64_t(sizeof(double)));
}

TEST(ProgramGradMoves, AStatementIsOneKernelEachWay) {
  int const few = launches_back_and_forth(1);
  if (few == 0) GTEST_SKIP() << "this Kokkos has no tools";
  EXPECT_EQ(launches_back_and_forth(11), few + 20);
}

TEST(ProgramGradMoves, JoinedArrays) {
  expect_gradient(
      "concatenate", 0.8009142675231034, {1.2350291469487478, 6.8727110962300975},
      [](auto x, auto y) {
        return sum(
            pow(concatenate(0, x(range(0, 3)), 2 * x(range(3, end)) * y(0), square(y), w8()), 3));
      },
      waves(0, 8), waves(1, 3));
  expect_gradient(
      "stack", 0.31376863764398544, {0.28806166542745304, 0.21327778257611127},
      [](auto x, auto y) { return sum(stack(1, x, x * y) * waves(4, 5, 2)); }, waves(0, 5),
      waves(1, 5));
  expect_gradient(
      "tile", -0.237042541204708, {-0.4514393540895818},
      [](auto x) { return sum(square(tile(x, 3)) * waves(4, 12)); }, waves(0, 4));
  expect_gradient(
      "roll", -0.20675449923028622, {-0.607253701028435},
      [](auto m) { return sum(roll(m, {1, -2}, {0, 1}) * square(m)); }, waves(0, 3, 5));
}

TEST(ProgramGradMoves, OtherAxesAndShapes) {
  expect_gradient(
      "transpose", 3.7954710954270525, {7.593034084618775},
      [](auto m) { return sum(square(transpose(m) * waves(4, 3))); }, waves(0, 3, 5));
  expect_gradient(
      "transpose of three axes", 23.348627515187165, {1.6604836004815788},
      [](auto t) { return sum(exp(transpose(t, {2, 0, 1}) * waves(4, 4, 2, 3))); },
      waves(0, 2, 3, 4));
  expect_gradient(
      "reshape", 5.233787405389068, {10.505925614029898},
      [](auto x) { return sum(square(sum(reshape(x, {2, -1}), 0))); }, waves(0, 8));
  expect_gradient(
      "reshape of a transpose", 1.1644990465678764, {3.471055324307721},
      [](auto m) { return sum(pow(ravel(transpose(m)), 3) * waves(4, 12)); }, waves(0, 3, 4));
  expect_gradient(
      "broadcast_to", -1.984596008157959, {-3.983016733250238},
      [](auto x) {
        return sum(square(broadcast_to(x(range(), newaxis), {4, 3})) * waves(4, 4, 3));
      },
      waves(0, 4));
  expect_gradient(
      "axes moved", -0.640068963877898, {-1.3019767709421861},
      [](auto t) { return sum(square(moveaxis(t, 0, 2)) * swap_axes(waves(4, 4, 3, 2), 0, 1)); },
      waves(0, 2, 3, 4));
  expect_gradient(
      "diagonal", 6.044290181047997, {4.907966456022511},
      [](auto m) { return sum(log(2 + diagonal(m))) + sum(square(diagonal(m, 1))); },
      waves(0, 4, 4));
}

TEST(ProgramGradMoves, CumulativeSums) {
  expect_gradient(
      "cumsum", 9.812294926158055, {19.616770042557672},
      [](auto x) { return sum(square(cumsum(x))); }, waves(0, 8));
  expect_gradient(
      "cumsum along an axis", 1.5775970471122671, {4.926469426964282},
      [](auto m) { return sum(square(cumsum(m, 0)) * cumsum(m, 1)); }, waves(0, 3, 4));
}

TEST(ProgramGradMoves, MasksAndBounds) {
  auto const x = waves(0, 8);
  expect_gradient(
      "where", 1.5379643158920229, {3.6547181596050655},
      [](auto x) {
        auto const later = x(range(1, end));
        return sum(where(later > 0, square(later), -x(range(0, -1))));
      },
      x);
  expect_gradient(
      "where above the mean", 2.3201493369284742, {4.8308574271578495},
      [](auto x) { return sum(where(x > mean(x), x * x, 0.1 * x)); }, x);
  expect_gradient(
      "clipped at the mean", 0.8604006567161364, {1.714283282991241},
      [](auto x) { return sum(square(minimum(x, mean(x))) * w8()); }, x);
}

TEST(ProgramGradMoves, Float) {
  expect_same_in_float(ShiftedDifference{}, waves(0, 8));
  expect_same_in_float(JacobiResidual{}, waves(0, 5, 6), waves(1, 5, 6));
}

TEST(ProgramGradMoves, AnglesWithoutJumpsAndTraces) {
  auto const x = coir::array({0.1, 3.0, -3.0, -0.5, 2.9, -2.8});
  auto const w = waves(1, 6);
  auto const [value, slope] =
      coir::value_and_grad([&](auto x) { return sum(square(unwrap(x)) * w); })(x);
  EXPECT_NEAR(value, sum(square(unwrap(x)) * w), 1e-12);
  EXPECT_TRUE(allclose(slope, 2 * unwrap(x) * w));
  auto const m = waves(0, 3, 4);
  auto const of_trace = coir::grad([](auto m) { return square(trace(m, 1)); })(m);
  coir::Array<double, 2> right = coir::zeros(3, 4);
  for (int i = 0; i < 3; ++i) right(i, i + 1) = 2 * trace(m, 1);
  EXPECT_TRUE(allclose(of_trace, right));
}

// Element 3 is shown four times, elements 1 and 4 never.
TEST(ProgramGradMoves, ElementsTakenSeveralTimesGetTheSum) {
  auto const at = coir::array({3, -2, 0, 3, 3, 2});
  auto const w = waves(1, 6);
  auto const slope = coir::grad([&](auto x) { return sum(take(x, at) * w); })(waves(0, 5));
  double const first = w(2), third = w(5), fourth = sum(w) - first - third;
  EXPECT_TRUE(allclose(slope, coir::array({first, 0.0, third, fourth, 0.0})));
  Array<std::int64_t, 2> const none(coir::Shape<2>{0, 3});
  EXPECT_TRUE(
      all(coir::grad([&](auto x) { return sum(take(x, none)) + sum(x); })(waves(0, 3)) == 1));
  EXPECT_THROW(coir::grad([&](auto x) { return sum(take(x, at)); })(waves(0, 3)),
               coir::PreconditionError);
}

// Each sum has 1009 terms of at most 1.
TEST(ProgramGradMoves, TakenElementsHaveTheSameBitsForAnyNumberOfThreads) {
  std::int64_t const n = 31;
  auto const at = coir::evaluate(coir::arange<std::int64_t>(1009 * n) * 7 % n);
  auto const w = waves(2, 1009 * n);
  auto const slope = coir::grad([&](auto x) { return sum(take(x, at) * w); })(waves(0, n));
  for (std::int64_t k = 0; k < n; ++k) {
    double sum = 0;
    // Where 7 i is k modulo 31: 7 times 9 is 1.
    for (std::int64_t i = 9 * k % n; i < at.size(); i += n) sum += static_cast<double>(w(i));
    EXPECT_EQ(static_cast<double>(slope(k)), sum) << k;
  }
}

TEST(ProgramGradMoves, MasksRepeatsAndMargins) {
  auto const m = waves(0, 3, 4);
  Array<double, 2> const positive = where(m > 0, 2 * m, 0.0);
  EXPECT_TRUE(
      allclose(coir::grad([](auto x) { return sum(square(compress(x, x > 0))); })(m), positive));
  auto const times = coir::array({2, 0, 3, 1});
  EXPECT_TRUE(allclose(coir::grad([&](auto x) { return sum(repeat(x, times)); })(waves(0, 4)),
                       coir::cast<double>(times)));
  EXPECT_TRUE(all(coir::grad([](auto x) { return sum(repeat(x, 3, 0)); })(m) == 3));
  EXPECT_TRUE(all(coir::grad([](auto x) { return sum(repeat(x, 0, 1)) + sum(x); })(m) == 1));
  EXPECT_TRUE(allclose(
      coir::grad([](auto x) { return sum(square(pad(x, {{1, 2}, {0, 3}}, 7.0))); })(m), 2 * m));
  auto const at_edges = coir::grad([](auto x) { return sum(pad(x, 2, coir::Pad::edge)); });
  EXPECT_TRUE(allclose(at_edges(waves(0, 3)), coir::array({3.0, 1.0, 3.0})));
  EXPECT_TRUE(allclose(at_edges(waves(0, 1)), coir::array({5.0})));
}

// JAX 0.10.2 gives equal elements the same shares.
TEST(ProgramGradMoves, EqualElementsKeepTheirOrderWhenSorted) {
  auto const x = coir::array({2.0, 1.0, 2.0, 1.0});
  auto const w = coir::array({1.0, 10.0, 100.0, 1000.0});
  EXPECT_TRUE(allclose(coir::grad([&](auto x) { return sum(sort(x) * w); })(x),
                       coir::array({100.0, 1.0, 1000.0, 10.0})));
  EXPECT_TRUE(
      allclose(coir::grad([](auto x) { return median(x); })(x), coir::array({0.5, 0.0, 0.0, 0.5})));
  EXPECT_TRUE(allclose(coir::grad([](auto x) { return quantile(x, 1); })(x),
                       coir::array({0.0, 0.0, 1.0, 0.0})));
  EXPECT_TRUE(all(coir::grad([](auto x) { return sum(sort(x)); })(waves(0, 0)) == 0));
  auto const rows = coir::grad(
      [](auto m) { return sum(percentile(m, {0.0, 50.0}, 1) * waves(1, 2, 3)) + x_of_largest(m); });
  auto const m = waves(0, 3, 5);
  auto const apart = coir::grad([](auto m) {
    auto const s = sort(m, 1);
    auto const w = waves(1, 2, 3);
    return sum(s(range(), 0) * w(0)) + sum(s(range(), 2) * w(1)) + max(m);
  });
  EXPECT_TRUE(allclose(rows(m), apart(m)));
}

TEST(ProgramGradMoves, CumulativeProductsWithZeros) {
  auto x = waves(0, 5);
  x(1) = 0;
  x(3) = 0;
  auto const slope = coir::grad([](auto x) { return sum(cumprod(x)); })(x);
  double const first = x(0), third = x(2);
  EXPECT_TRUE(allclose(slope, coir::array({1.0, first * (1 + third), 0.0, 0.0, 0.0})));
  expect_gradient(
      "cumprod along an axis", 0.5563996741835817, {0.8110388319089614},
      [](auto m) { return sum(cumprod(m, 0) * cumprod(m, 1)); }, waves(0, 3, 4));
}

TEST(ProgramGradMoves, PartsAreWritten) {
  expect_gradient("parts", 29.586030507960345, {121.5809776533439}, Parts{}, waves(0, 7));
  expect_gradient("rows and columns", 0.8130547183204258, {0.500555769677564, 0.6513113772657366},
                  RowsAndColumns{}, waves(0, 3, 3), waves(1, 3));
  expect_same_in_float(Parts{}, waves(0, 7));
  auto const wrong = [](auto x) {
    auto u = evaluate(2 * x);
    u(range(0, 2)) = x(range(0, 3));
    return sum(u);
  };
  EXPECT_THROW(coir::grad(wrong)(waves(0, 4)), coir::PreconditionError);
  auto const stretched = [](auto x) {
    auto u = broadcast_to(x, {3, 4});
    u(0) = 1;
    return sum(u);
  };
  EXPECT_NE(coir::testing::message_of([&] {
              coir::grad(stretched)(waves(0, 4));
            }).find("begin with auto u = evaluate(+x)"),
            std::string::npos);
}

TEST(ProgramGradMoves, IntegersHaveNoDerivative) {
  auto const x = waves(0, 7);
  EXPECT_TRUE(allclose(coir::grad([](auto x) { return sum(x * coir::cast<int>(10 * x)); })(x),
                       coir::cast<int>(10 * x)));
  auto const slope = coir::grad([](auto x) { return square(x(argmin(x))); })(x);
  Array<double, 1> expected = coir::zeros<double>(7);
  expected(argmin(x)) = 2 * min(x);
  EXPECT_TRUE(allclose(slope, expected));
  EXPECT_TRUE(
      all(coir::grad([](auto x) { return sum(x * double(argmax(x))); })(x) == double(argmax(x))));
}
