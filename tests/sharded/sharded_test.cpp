// Split arrays: every operation against the plain array, on any number of ranks.

#include <coir/array/all.hpp>
#include <coir/array/fft.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/sharded/creation.hpp>
#include <coir/sharded/fft.hpp>
#include <coir/sharded/functions.hpp>
#include <coir/sharded/matmul.hpp>
#include <coir/sharded/moves.hpp>
#include <coir/sharded/reductions.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using coir::Array;
using coir::range;
using coir::Shape;
using coir::distributed::Group;
using coir::sharded::Edges;
using coir::sharded::Sharded;
using coir::testing::message_of;
using coir::testing::world;
namespace sharded = coir::sharded;

auto const key = coir::random::key(42);

/// Whether a split array has the elements of a plain one.
template <class X, class E>
bool is(X const& x, E const& plain) {
  auto const whole = sharded::replicate(x);
  return whole.shape() == plain.shape() && coir::all(whole == plain);
}
template <class A, class B>
double distance(A const& a, B const& b) {
  return a.shape() == b.shape() ? static_cast<double>(coir::max(coir::abs(a - b))) : 1e30;
}

Array<double, 2> matrix() { return coir::random::normal(key, {7, 5}); }

struct Mix {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a * b - 1; }
};

TEST(Sharded, OfTheCallingProcessAloneAreOfOneGroup) {
  auto const a = sharded::shard(Group::self(), matrix()), b = sharded::shard(Group(), matrix());
  EXPECT_EQ(sum(a - b), 0);
  EXPECT_EQ(Group::self() == world(), world().size() == 1);
}

TEST(Sharded, ElementwiseIsThatOfPlainArraysAndSendsNothing) {
  auto const plain = matrix();
  for (int axis : {0, 1, -1}) {
    Sharded<double, 2> const x = sharded::normal(world(), key, {7, 5}, axis);
    auto const before = world().traffic();
    Sharded<double, 2> y = 2 * x + 1;
    auto const z = sharded::evaluate(where(x > 0, sqrt(abs(x)), -y));
    auto const row = coir::arange(5.0);
    auto const column = coir::evaluate(coir::with_axis(coir::arange(7.0), 1));
    auto const mixed = sharded::evaluate(x * row + column - exp(plain));
    auto const mapped = sharded::evaluate(sharded::map(Mix{}, x, y));
    auto const cut = axis == 0 ? sharded::evaluate(x(range(), range(1, 4)) * 2) : x;
    y *= x;
    y += 1;
    EXPECT_EQ(world().traffic(), before);
    // The same statements, because devices round a product and a sum in one statement once.
    Array<double, 2> plain_y = 2 * plain + 1;
    plain_y *= plain;
    plain_y += 1;
    EXPECT_TRUE(is(x, plain)) << axis;
    EXPECT_TRUE(is(y, plain_y)) << axis;
    EXPECT_TRUE(is(z, coir::where(plain > 0, sqrt(abs(plain)), -(2 * plain + 1)))) << axis;
    // exp of another stretch may be rounded otherwise
    EXPECT_LE(distance(sharded::replicate(mixed), plain * row + column - exp(plain)), 1e-14);
    EXPECT_TRUE(is(mapped, coir::map(Mix{}, plain, 2 * plain + 1))) << axis;
    if (axis == 0) EXPECT_TRUE(is(cut, plain(range(), range(1, 4)) * 2));
    EXPECT_TRUE(is(cast<float>(x), coir::cast<float>(plain))) << axis;
  }
}

TEST(Sharded, TakesTheOperatorsOfIntegersAndBools) {
  Array<int, 2> const plain = coir::cast<int>(10 * matrix());
  auto const x = sharded::shard(world(), plain);
  EXPECT_TRUE(is((x & 3) | (~x ^ 1), (plain & 3) | (~plain ^ 1)));
  Sharded<int, 2> y = mod(x, 7) << 2;
  y %= 5;
  y += x;
  EXPECT_TRUE(is(y, (coir::mod(plain, 7) << 2) % 5 + plain));
  EXPECT_TRUE(max(x > 0));
  EXPECT_FALSE(min(x > 0));
  EXPECT_TRUE(is(isinf(copysign(x / 0.0, -1.0)), isinf(plain / 0.0)));
}

TEST(Sharded, PartsAreShared) {
  auto const share = coir::distributed::share_of(7, world().rank(), world().size());
  auto const x = sharded::normal(world(), key, {7, 5});
  EXPECT_EQ(x.local().shape(), (Shape<2>{share.count, 5}));
  EXPECT_TRUE(coir::all(x.local() == matrix()(range(share.first, share.end()))));
  EXPECT_TRUE(is(sharded::shard(world(), matrix(), 1), matrix()));
  EXPECT_TRUE(is(sharded::from_parts(x.local() + 1, x.placement()), matrix() + 1));
  auto zero = sharded::zeros<float>(world(), {3, 4}, 1);
  EXPECT_TRUE(is(zero, coir::zeros<float>(3, 4)));
  zero = 2;
  EXPECT_EQ(sharded::sum(zero), 24.0f);
}

struct OfIndices {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(10 * i + j);
  }
};

TEST(Sharded, RandomNumbersAndFunctionsOfIndicesAreThoseOfPlainArrays) {
  for (int axis : {0, 1, 2}) {
    EXPECT_TRUE(is(sharded::normal<float>(world(), key, {5, 3, 7}, axis),
                   coir::random::normal<float>(key, {5, 3, 7})));
    EXPECT_TRUE(
        is(sharded::uniform(world(), key, {5, 3, 7}, axis), coir::random::uniform(key, {5, 3, 7})));
  }
  EXPECT_TRUE(is(sharded::from_function(world(), {7, 5}, OfIndices{}, 1),
                 coir::from_function({7, 5}, OfIndices{})));
  // One rank has all of an array with one index along the split axis.
  Array<double, 2> const row = coir::random::normal(key, {1, 5});
  EXPECT_TRUE(is(sharded::shard(world(), row), row));
  EXPECT_TRUE(is(sharded::shard(world(), 2 * row), 2 * row));
  EXPECT_NE(message_of([&] { sharded::from_function(world(), {-1, 5}, OfIndices{}); }).find("-1"),
            std::string::npos);
}

template <class X, class Y>
void compare_reductions(X const& x, Y const& plain, X const& on_one) {
  double const scale = coir::sum(abs(plain));
  EXPECT_NEAR(sum(x), coir::sum(plain), 1e-14 * scale);
  EXPECT_EQ(sum(x), sum(on_one)) << "in bits";
  EXPECT_EQ(min(x), coir::min(plain));
  EXPECT_EQ(max(x), coir::max(plain));
  EXPECT_NEAR(mean(x), coir::mean(plain), 1e-14 * scale);
  EXPECT_NEAR(norm(x), coir::norm(plain), 1e-14 * scale);
  EXPECT_NEAR(var(x), coir::var(plain), 1e-14 * scale);
  EXPECT_NEAR(dot(x, x + 1), coir::dot(plain, plain + 1), 1e-13 * scale);
  auto const large = cast<std::int32_t>(0 * x) + 60'000;
  auto const as_large = coir::cast<std::int32_t>(0 * plain) + 60'000;
  EXPECT_EQ(dot(large, large), coir::dot(as_large, as_large));
  EXPECT_EQ(count_nonzero(x > 0), coir::count_nonzero(plain > 0));
  EXPECT_EQ(any(x > 3), coir::any(plain > 3));
  EXPECT_EQ(all(x > -9), coir::all(plain > -9));
  EXPECT_EQ(sum(x > 0), coir::sum(plain > 0));
}

TEST(Sharded, ReductionsAreThoseOfPlainArraysWithTheSameBitsForAnyRanks) {
  Group const one;
  for (std::int64_t n : {1, 37, 10007})
    compare_reductions(sharded::normal(world(), key, {n}), coir::random::normal(key, {n}),
                       sharded::normal(one, key, {n}));
  for (int axis : {0, 1})
    for (std::int64_t m : {5, 300})
      compare_reductions(sharded::normal(world(), key, {7, m}, axis),
                         coir::random::normal(key, {7, m}),
                         sharded::normal(one, key, {7, m}, axis));
  for (int axis : {0, 1, 2})
    compare_reductions(sharded::normal(world(), key, {6, 9, 8}, axis),
                       coir::random::normal(key, {6, 9, 8}),
                       sharded::normal(one, key, {6, 9, 8}, axis));
  EXPECT_EQ(sum(sharded::zeros<double>(world(), {0, 3})), 0.0);
}

TEST(Sharded, ReducesAlongAxesThatAreNotSplit) {
  auto const x = sharded::normal(world(), key, {7, 5});
  auto const before = world().traffic();
  auto const sums = sum(x, 1);
  auto const centred = sharded::evaluate(x - with_axis(mean(x, -1), 1));
  auto const sorted = sort(x, 1);
  auto const running = cumsum(x, 1);
  EXPECT_EQ(world().traffic(), before);
  auto const plain = matrix();
  EXPECT_TRUE(is(sums, coir::sum(plain, 1)));
  EXPECT_TRUE(is(centred, plain - coir::with_axis(coir::mean(plain, 1), 1)));
  EXPECT_TRUE(is(sorted, coir::sort(plain, 1)));
  EXPECT_TRUE(is(running, coir::cumsum(plain, 1)));
  EXPECT_TRUE(is(max(reshard(x, 1), 0), coir::max(plain, 0)));
  EXPECT_TRUE(is(min(reshard(x, 1), 0), coir::min(plain, 0)));
}

TEST(Sharded, MovesAreThoseOfPlainArrays) {
  int const ranks = world().size();
  auto const plain = matrix();
  for (int axis : {0, 1}) {
    auto const x = sharded::normal(world(), key, {7, 5}, axis);
    auto const before = world().traffic("sharded/reshard").messages;
    EXPECT_TRUE(is(reshard(x, 1 - axis), plain));
    EXPECT_LE(world().traffic("sharded/reshard").messages - before, ranks - 1);
    EXPECT_TRUE(is(reshard(reshard(x + 1, -1), axis), plain + 1));
    for (int along : {0, 1})
      for (std::int64_t steps : {0, 1, -1, 3, -12, 100})
        EXPECT_TRUE(is(shift(x, along, steps), coir::roll(plain, steps, along)))
            << axis << along << steps;
    for (int root : {0, ranks - 1}) {
      auto const all = gather(2 * x, root);
      if (world().rank() == root) EXPECT_TRUE(coir::all(all == 2 * plain));
      EXPECT_EQ(all.extent(axis), world().rank() == root ? plain.extent(axis) : 0);
    }
  }
  auto const cube = coir::random::normal(key, {4, 6, 5});
  EXPECT_TRUE(is(reshard(sharded::normal(world(), key, {4, 6, 5}, 2), 1), cube));
}

// Wide halos come from ranks beyond the neighbours, and around the axis.
TEST(Sharded, HalosAreThoseOfPlainArrays) {
  auto const plain = matrix();
  for (int axis : {0, 1}) {
    auto const x = sharded::normal(world(), key, {7, 5}, axis);
    auto const share = x.placement().share();
    auto const rows = coir::swap_axes(plain, 0, axis);
    std::int64_t const n = rows.shape()[0];
    for (std::int64_t width : {0, 1, 5}) {
      auto const periodic = coir::evaluate(coir::swap_axes(with_halo(x, width), 0, axis));
      auto const walled =
          coir::evaluate(coir::swap_axes(with_halo(x, width, Edges::zero), 0, axis));
      ASSERT_EQ(periodic.extent(0), share.count + 2 * width);
      for (std::int64_t i = 0; i < periodic.extent(0); ++i) {
        std::int64_t const from = share.first - width + i, around = (from % n + n) % n;
        EXPECT_TRUE(
            coir::all(periodic(coir::range(i, i + 1)) == rows(coir::range(around, around + 1))));
        EXPECT_TRUE(coir::all(walled(coir::range(i, i + 1)) ==
                              rows(coir::range(around, around + 1)) * (from == around ? 1 : 0)));
      }
    }
  }
}

TEST(Sharded, ProductsAreThoseOfPlainMatrices) {
  auto const a = coir::random::normal(key, {9, 7}), b = coir::random::normal(key, {7, 5});
  auto const x = sharded::shard(world(), a), y = sharded::shard(world(), b);
  auto const before = world().traffic("sharded/matmul").messages;
  auto const product = matmul(x, y);
  if (world().size() <= 7)  // with parts that aren't empty: each block visits each rank once
    EXPECT_EQ(world().traffic("sharded/matmul").messages - before, world().size() - 1);
  EXPECT_LE(distance(sharded::replicate(product), coir::matmul(a, b)), 1e-14);
  EXPECT_LE(distance(sharded::replicate(matmul(x, b)), coir::matmul(a, b)), 1e-14);
  auto const v = coir::arange(7.0);
  EXPECT_LE(distance(sharded::replicate(matmul(x, v)), coir::matmul(a, v)), 1e-13);
}

TEST(Sharded, TransformsAreThoseOfPlainArraysWithTheSameBitsForAnyRanks) {
  Group const one;
  for (std::int64_t n : {6, 5}) {
    auto const plain = coir::evaluate(coir::random::normal(key, {7, 4, n}));
    auto const x = sharded::normal(world(), key, {7, 4, n});
    auto const k = sharded::rfftn(x);
    EXPECT_EQ(k.placement().axis(), 1);
    EXPECT_LE(distance(sharded::replicate(k), coir::fft::rfftn(plain)), 1e-13);
    EXPECT_TRUE(is(k, sharded::replicate(sharded::rfftn(sharded::normal(one, key, {7, 4, n})))))
        << "in bits";
    EXPECT_LE(distance(sharded::replicate(sharded::irfftn(k, n)), plain), 1e-14);
  }
}

TEST(Sharded, SaysInOneLineWhatIsWrong) {
  std::string const over = " over " + std::to_string(world().size()) + " ranks";
  auto const x = sharded::normal(world(), key, {8, 6});
  auto const y = sharded::normal(world(), key, {8, 6}, 1);
  EXPECT_EQ(message_of([&] { x + y; }),
            "split arrays of one expression must be split alike, not (8, 6) along axis 0" + over +
                " and (8, 6) along axis 1" + over +
                ": reshard() one of them, or replicate() one that is stretched");
  auto const wide = sharded::normal(world(), key, {8, 7});
  EXPECT_EQ(
      message_of([&] { x + wide; }).substr(0, 6),
      message_of([&] { coir::evaluate(coir::zeros(8, 6) + coir::zeros(8, 7)); }).substr(0, 6));
  auto const needs = [&](std::string const& what) {
    return what +
           " along axis 0 needs whole lines on each rank, and the array of (8, 6) along "
           "axis 0" +
           over + " is split along it: reshard() it along another axis first";
  };
  EXPECT_EQ(message_of([&] { sort(x, 0); }), needs("sorting"));
  EXPECT_EQ(message_of([&] { sum(x, -2); }), needs("a sum"));
  EXPECT_EQ(message_of([&] { cumsum(x, 0); }), needs("a running sum"));
  EXPECT_EQ(message_of([&] { x(range(1, 8)); }),
            "a slice must leave the split axis whole, because ranks would have uneven parts: "
            "reshard() the array along another axis, or replicate() it, before axis 0 is cut");
  Sharded<double, 2> narrow = sharded::zeros<double>(world(), {8, 1});
  Array<double, 2> plain_narrow = coir::zeros(8, 1);
  EXPECT_EQ(message_of([&] { narrow += x; }),
            message_of([&] { plain_narrow += coir::zeros(8, 6); }));
  Sharded<double, 2> row = sharded::zeros<double>(world(), {1, 6});
  EXPECT_EQ(message_of([&] { row += coir::zeros(8, 6); }),
            "an array of (1, 6) along axis 0" + over +
                " can't be stretched to shape (8, 6) along an axis that is split: replicate() it");
  auto const elsewhere = sharded::normal(world().split(0), key, {8, 6});
  if (world().size() > 1)
    for (auto const& message :
         {message_of([&] { x + elsewhere; }), message_of([&] { matmul(x, elsewhere); })})
      EXPECT_EQ(message, "arrays of (8, 6) along axis 0" + over + " and (8, 6) along axis 0" +
                             over +
                             " belong to different groups: make both of copies of one Group");
  EXPECT_EQ(message_of([&] { reshard(x, 2); }), "axis 2 is none of an array of shape (8, 6)");
  EXPECT_EQ(message_of([&] { shift(x, -3, 1); }), "axis -3 is none of an array of shape (8, 6)");
  EXPECT_EQ(message_of([&] { with_axis(x, 4); }),
            "a new axis of an array of (8, 6) along axis 0" + over + " must lie in [-3, 2], not 4");
  EXPECT_EQ(message_of([&] { with_halo(x, 9); }), "the halo of an array of (8, 6) along axis 0" +
                                                      over + " must have 0 to 8 layers, not 9");
  EXPECT_EQ(message_of([&] { gather(x, -1); }),
            "an array must be gathered on a rank of its group, not -1");
  std::string const part = " of an array of (8, 6) along axis 0" + over;
  EXPECT_EQ(message_of([&] { from_parts(coir::zeros(9, 9), x.placement()); }),
            "the part of rank 0" + part + " must have shape (" +
                std::to_string(coir::distributed::share_of(8, 0, world().size()).count) +
                ", 6), not (9, 9)");
  EXPECT_EQ(message_of([&] { Sharded<double, 2>(coir::zeros(9, 9), x.placement()); }),
            "the part of rank " + std::to_string(world().rank()) + part + " has shape " +
                coir::in_words(x.local().shape()) + ", not (9, 9)");
  EXPECT_EQ(message_of([&] { max(sharded::zeros<int>(world(), {0, 3})); }),
            "there is no maximum of an array of shape (0, 3): it has no elements");
  EXPECT_EQ(message_of([&] { mean(sharded::zeros<int>(world(), {0, 3})); }),
            "there is no mean of an array of shape (0, 3): it has no elements");
  EXPECT_EQ(message_of([&] { matmul(x, y); }),
            "matmul takes (n, k) and (k, m), both split along axis 0, not (8, 6) along axis 0" +
                over + " and (8, 6) along axis 1" + over +
                ": reshard() a factor that is split along axis 1");
  EXPECT_EQ(message_of([&] { matmul(y, coir::zeros(6, 2)); }),
            "a product with a plain matrix takes one that is split along axis 0, by reshard(a, 0), "
            "not 1");
  auto const cube = sharded::zeros<double>(world(), {4, 4, 3}, 1);
  EXPECT_EQ(message_of([&] { sharded::irfftn(reshard(cube, 0), 5); }),
            "irfftn takes spectra that are split along axis 1, by reshard(x, 1), not 0");
  EXPECT_EQ(message_of([&] { sharded::rfftn(cube); }),
            "rfftn takes arrays that are split along axis 0, by reshard(x, 0), not 1");
  EXPECT_EQ(message_of([&] { sharded::irfftn(cube, 6); }),
            "the spectrum of 6 numbers in a row must have 4 modes in a row, not 3");
  if (world().size() == 1) return;
  EXPECT_EQ(message_of([&] { sharded::zeros<float>(world(), {3, world().rank()}); }),
            "all ranks must be given the same shape of a split array: it is (3, 0) on rank 0 and "
            "(3, 1) on rank 1");
}

}  // namespace
