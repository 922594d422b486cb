// Gradients that record() records: the same bits as without, no memory and no statements made anew
// in each run, and what is refused.

#include <autodiff/program_grad.hpp>

#include <coir/array/record.hpp>
#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>
#include <coir/autodiff/value_and_grad_into.hpp>
#include <coir/core/pool.hpp>

#include <support/message_of.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using coir::Array;
using coir::DefaultSpace;
using coir::end;
using coir::MemoryPool;
using coir::PreconditionError;
using coir::range;
using coir::record;
using coir::Shape;
using coir::value_and_grad_into;
using coir::value_into;
using coir::testing::message_of;
using coir::testing::numbers_of;
using coir::testing::waves;

namespace {

struct Diffusion {
  int steps;
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int k = 0; k < steps; ++k) u = u + 0.2 * (roll(u, 1, 0) + roll(u, -1, 1) - 2 * u);
    return sum(square(u));
  }
};

struct Stencils {
  int steps;
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int k = 0; k < steps; ++k)
      u = u + 0.1 * (roll(u, 1, 0) - roll(u, -1, 1)) * u + sin(roll(u, 2, 0));
    return sum(u);
  }
};

/// Reductions of all kinds, and statements that write parts.
struct Everything {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(tanh(x));
    u(range(1, end)) = u(range(0, -1)) * u(range(1, end)) + sin(x(range(1, end)));
    auto const s = evaluate(mean(exp(u)) + norm(x));
    return log(1 + sum(u * roll(u, 1, 1))) * s + max(u) * min(u) + prod(1 + 0.01 * u) +
           sum(max(u, 1) * sum(u, 1)) + sum(where(u > 0, u * u, -u) / with_axis(s, 0));
  }
};

struct Products {
  Array<double, 2> const& data;
  template <class W, class V>
  auto operator()(W const& w, V const& v) const {
    return mean(square(matmul(tanh(matmul(data, w)), v) - 1));
  }
};

/// The likelihood of a Gaussian process.
struct Likelihood {
  template <class K>
  auto operator()(K const& k) const {
    auto const seen = evaluate(k(range(), 0));
    return sum(seen * solve(k, seen)) + sum(log(diagonal(cholesky(k))));
  }
};

/// On devices a recorded reduction folds values that were stored, and so rounded, in another order.
/// Sums of up to 6464 terms then differ by at most 6464 roundings of the sum of their absolute
/// values, which is below 100 times the largest result here.
void expects_same(std::vector<double> const& found, std::vector<double> const& expected) {
  if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>) {
    EXPECT_EQ(found, expected);
    return;
  }
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (double const number : expected) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 6464 * 1.2e-16 * 100 * largest) << i;
}

}  // namespace

TEST(RecordedGrad, HasTheBitsOfStatementsOneByOne) {
  for (auto const& shape : {Shape<2>{1, 1}, Shape<2>{7, 13}, Shape<2>{64, 101}}) {
    auto x = waves(0, shape[0], shape[1]), y = coir::copy(x);
    auto slope = coir::zeros<double>(shape[0], shape[1]);
    Array<double, 0> value(Shape<0>{});
    auto const step = record([&] {
      value_and_grad_into(Everything{})(value, slope, x);
      x -= 0.01 * tanh(slope);  // small, so that roundings don't grow
    });
    EXPECT_EQ(numbers_of(x), numbers_of(y));  // nothing has run yet
    step.run(3);
    for (int k = 0; k < 3; ++k) {
      auto const expected = coir::value_and_grad(Everything{})(y);
      y -= 0.01 * tanh(expected.gradient);
      if (k == 2) {
        expects_same({value.item()}, {expected.value});
        expects_same(numbers_of(slope), numbers_of(expected.gradient));
      }
    }
    expects_same(numbers_of(x), numbers_of(y));
  }
}

TEST(RecordedGrad, ValuesAlone) {
  auto x = waves(0, 64, 101);
  Array<double, 0> value(Shape<0>{});
  value_into(Everything{})(value, x);  // without recording
  expects_same({value.item()}, {coir::value_and_grad(Everything{})(x).value});
  auto const step = record([&] { value_into(Everything{})(value, x); });
  x = 0.5 * x;  // read by the run
  step.run(2);
  expects_same({value.item()}, {coir::value_and_grad(Everything{})(x).value});
}

TEST(RecordedGrad, SeveralArgumentsAndProducts) {
  auto const data = waves(0, 9, 5);
  auto w = waves(1, 5, 4);
  auto v = waves(2, 4);
  auto of_w = coir::zeros<double>(5, 4);
  auto of_v = coir::zeros<double>(4);
  Array<double, 0> value(Shape<0>{});
  auto const step =
      record([&] { value_and_grad_into(Products{data})(value, std::tie(of_w, of_v), w, v); });
  for (int k = 0; k < 2; ++k) {
    step.run();
    auto const expected = coir::value_and_grad(Products{data})(w, v);
    expects_same({value.item()}, {expected.value});
    expects_same(numbers_of(of_w), numbers_of(std::get<0>(expected.gradient)));
    expects_same(numbers_of(of_v), numbers_of(std::get<1>(expected.gradient)));
    w += 0.1;  // a recorded run reads the elements that are there
  }
}

// Hosts keep the calls of LAPACK, which read other elements and may fail when they run.
TEST(RecordedGrad, SolvedSystemsOnHosts) {
  Array<double, 2> k = 3 * coir::eye<double>(5) + 0.1 * waves(0, 5, 5), slope = copy(k);
  Array<double, 0> value(Shape<0>{});
  auto const record_it = [&] {
    return record([&] { value_and_grad_into(Likelihood{})(value, slope, k); });
  };
  if constexpr (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>) {
    EXPECT_THROW(record_it(), PreconditionError);
  } else {
    auto const recorded = record_it();
    for (int round = 0; round < 2; ++round) {
      recorded.run();
      auto const expected = coir::value_and_grad(Likelihood{})(k);
      EXPECT_EQ(value.item(), expected.value);
      EXPECT_EQ(numbers_of(slope), numbers_of(expected.gradient));
      k += 0.5 * coir::eye<double>(5);
    }
    k = -k;
    EXPECT_THROW(recorded.run(), coir::NumericalError);
  }
}

// Statements of the way back take the memory that others have left, as they do without recording,
// and runs take none.
TEST(RecordedGrad, MemoryIsPlannedOnce) {
  auto const x = waves(0, 32, 32);
  auto slope = coir::zeros<double>(32, 32);
  Array<double, 0> value(Shape<0>{});
  auto const blocks_of = [&](int steps) {
    MemoryPool<DefaultSpace>::release();
    std::int64_t const before = MemoryPool<DefaultSpace>::statistics().in_use;
    auto const recorded = record([&] { value_and_grad_into(Diffusion{steps})(value, slope, x); });
    return (MemoryPool<DefaultSpace>::statistics().in_use - before) / (32 * 32 * 8);
  };
  // Linear steps keep nothing: a statement's result and operand, two cotangents, and numbers.
  EXPECT_LE(blocks_of(5), 8);
  EXPECT_EQ(blocks_of(5), blocks_of(50));

  // Values alone keep no statement, linear or not: a result, an operand, and numbers.
  std::int64_t const kept = MemoryPool<DefaultSpace>::statistics().in_use;
  auto const stencils = record([&] { value_into(Stencils{50})(value, x); });
  EXPECT_LE((MemoryPool<DefaultSpace>::statistics().in_use - kept) / (32 * 32 * 8), 4);

  auto const recorded = record([&] { value_and_grad_into(Diffusion{5})(value, slope, x); });
  recorded.run();
  std::int64_t const before = MemoryPool<DefaultSpace>::statistics().allocations;
  recorded.run(10);
  EXPECT_EQ(MemoryPool<DefaultSpace>::statistics().allocations, before);
}

TEST(RecordedGrad, ArraysThatMovedAreNamed) {
  auto x = waves(0, 6), slope = coir::zeros<double>(6);
  Array<double, 0> value(Shape<0>{});
  auto const step =
      record([&] { value_and_grad_into([](auto u) { return sum(u * u); })(value, slope, x); });
  step.run();
  auto other = waves(1, 6);
  x = other;  // elements alone
  step.run();
  EXPECT_EQ(numbers_of(slope), numbers_of(coir::evaluate(2 * other)));
  auto const refused = [&] { return message_of<PreconditionError>([&] { step.run(); }); };
  x.swap(other);
  EXPECT_EQ(refused(),
            "an argument of a recorded program has other memory than when it was recorded: keep "
            "its shape, assign elements to it, or record again");
  x.swap(other);
  step.run();
  slope = coir::zeros<double>(7);
  EXPECT_NE(refused().find("the gradient along argument 0 of a recorded"), std::string::npos);
}

TEST(RecordedGrad, MistakesAreNamed) {
  auto const x = waves(0, 6);
  auto slope = coir::zeros<double>(5);
  Array<double, 0> value(Shape<0>{});
  auto const f = [](auto u) { return sum(u * u); };
  EXPECT_EQ(message_of<PreconditionError>([&] { value_and_grad_into(f)(value, slope, x); }),
            "the gradient along argument 0 has the shape (6,), and its array (5,)");
  slope = coir::zeros<double>(6);
  value_and_grad_into(f)(value, slope, x);  // without recording
  EXPECT_EQ(numbers_of(slope), numbers_of(coir::evaluate(2 * x)));
  auto const waits = [](auto u) { return sum(sort(u) * waves(1, 6)); };
  EXPECT_THROW(record([&] { value_and_grad_into(waits)(value, slope, x); }), PreconditionError);
}

// A statement is one launch forward and one back, whatever it reads: 30 more statements are 60 more
// launches.
TEST(RecordedGrad, AStatementBackIsOneLaunch) {
  static std::int64_t launches;
  auto const launches_of = [](int steps) {
    auto const x = waves(0, 9, 11);
    launches = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](char const*, std::uint32_t, std::uint64_t*) { ++launches; });
    coir::grad(Stencils{steps})(x);
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    return launches;
  };
  EXPECT_EQ(launches_of(33) - launches_of(3), 60);
}
