#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <numeric>

using namespace coir;
using coir::testing::values;

COIR_TYPED_SUITE(Record);

// 70 runs: some submitted together, and some alone.
TYPED_TEST(Record, SweepsAreThoseOfStatementsOneByOne) {
  TYPES_OF_CASE;
  auto const in = range(1, -1), before = range(0, -2), after = range(2, end);
  auto u = coir::testing::random_array<T, Space>(Shape<2>{41, 67}, 1), v = copy(u);
  auto p = copy(u), q = copy(u);
  auto const sweeps = record<Space>([&] {
    v(in, in) = T(0.25) * (u(before, in) + u(after, in) + u(in, before) + u(in, after));
    u(in, in) = T(0.25) * (v(before, in) + v(after, in) + v(in, before) + v(in, after));
  });
  EXPECT_EQ(values(u), values(p));  // nothing has run yet
  for (int times : {0, 1, 70}) {
    sweeps.run(times);
    for (int i = 0; i < times; ++i) {
      q(in, in) = T(0.25) * (p(before, in) + p(after, in) + p(in, before) + p(in, after));
      p(in, in) = T(0.25) * (q(before, in) + q(after, in) + q(in, before) + q(in, after));
    }
    EXPECT_EQ(values(u), values(p));
    EXPECT_EQ(values(v), values(q));
  }
  u = 1;  // between two runs
  p = 1;
  sweeps.run(2);
  for (int i = 0; i < 2; ++i) {
    q(in, in) = T(0.25) * (p(before, in) + p(after, in) + p(in, before) + p(in, after));
    p(in, in) = T(0.25) * (q(before, in) + q(after, in) + q(in, before) + q(in, after));
  }
  EXPECT_EQ(values(u), values(p));
}

TYPED_TEST(Record, IsNotRunWhileAnotherOneIsRecorded) {
  TYPES_OF_CASE;
  if constexpr (coir::runs_on_host<Exec>) {
    auto u = zeros<T, Space>(10);
    auto const one = record<Space>([&] { u += 1; });
    EXPECT_EQ(
        coir::testing::message_of<PreconditionError>([&] { record<Space>([&] { one.run(); }); }),
        "recorded statements can't be run while record() records");
    one.run();
    EXPECT_EQ(values(u), std::vector<T>(10, T(1)));
  }
}

// The second statement overwrites what it reads, through a temporary; the others have results of
// their own.
TYPED_TEST(Record, TemporariesLiveAsLongAsWhatIsRecorded) {
  TYPES_OF_CASE;
  std::vector<T> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), T(0));
  auto x = coir::testing::array_of<Space>(numbers, Shape<1>{1000});
  auto sums = zeros<T, Space>(10);
  auto const move = record<Space>([&] {
    x(range(0, -1)) = x(range(1, end));
    sums += sum(reshape(x, Shape<2>{10, 100}), 1);
  });
  std::vector<T> expected(10);
  for (int times : {3, 40, 1}) {
    move.run(times);
    for (int i = 0; i < times; ++i) {
      for (std::size_t c = 0; c + 1 < 1000; ++c) numbers[c] = numbers[c + 1];
      for (std::size_t c = 0; c < 1000; ++c) expected[c / 100] += numbers[c];
    }
    EXPECT_EQ(values(x), numbers);
    EXPECT_EQ(values(sums), expected);  // whole numbers below 2^24: exact
    auto junk = zeros<T, Space>(1000);  // takes what the pool has
    junk = T(-1);
  }
}

TYPED_TEST(Record, WhatTheHostWaitsForIsRefused) {
  TYPES_OF_CASE;
  auto x = ones<T, Space>(10), y = zeros<T, Space>(10);
  auto const refused = [&](auto const& statements) {
    return coir::testing::message_of<PreconditionError>([&] { record<Space>(statements).run(); });
  };
  EXPECT_EQ(
      refused([&] { y = x / sum(x); }),
      "a reduction to a number can't be recorded by record(): only assignments, reductions along "
      "an axis, products and vmap can; do the rest between two runs");
  EXPECT_NE(refused([&] { y = sort(x); }), "");
  EXPECT_NE(refused([&] { y = cumsum(x); }), "");
  if constexpr (!runs_on_host<typename Space::execution_space>)
    EXPECT_NE(refused([&] { y = T(x(0)); }), "");
  EXPECT_NE(coir::testing::message_of<PreconditionError>([&] { record<Space>([] {}).run(-1); }),
            "");
  // The refusal leaves nothing behind.
  y = x + sum(x);
  EXPECT_EQ(values(y)[9], T(11));
}
