// Programs of split arrays, whose values and gradients split_programs.py had from JAX.

#include <coir/array/all.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/sharded/creation.hpp>
#include <coir/sharded/functions.hpp>
#include <coir/sharded/gradients.hpp>
#include <coir/sharded/matmul.hpp>
#include <coir/sharded/moves.hpp>
#include <coir/sharded/reductions.hpp>

#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::world;
namespace sharded = coir::sharded;

struct Statement {
  int code, a, b;
  std::int64_t k;
};

/// split_programs.py has the same numbers.
Array<double, 1> waves(int k, std::int64_t n) {
  return coir::evaluate(
      coir::sin(0.7 + 1.3 * coir::arange<double>(static_cast<double>(n)) + 0.9 * k));
}
Array<double, 2> square_waves(int k, std::int64_t n) {
  return coir::evaluate(reshape(waves(k, n * n), {n, n}));
}

/// split_programs.py has the same statements in the same order.
struct Program {
  std::int64_t n;
  std::vector<Statement> statements;

  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    std::vector names{evaluate(x), evaluate(y)};
    for (auto const& s : statements)
      names.push_back(
          made_of(names[static_cast<std::size_t>(s.a)], names[static_cast<std::size_t>(s.b)], s));
    return sum(names.back() * square_waves(5, n));
  }

 private:
  template <class U>
  U made_of(U const& u, U const& v, Statement const& s) const {
    auto const size = static_cast<double>(n);
    auto const small = tanh(u);
    auto const positive = 2 + u * u;
    switch (s.code) {
      case 0: return evaluate(u + v);
      case 1: return evaluate(u - v);
      case 2: return evaluate(u * v);
      case 3: return evaluate(u / (2 + v * v));
      case 4: return evaluate(-u);
      case 5: return evaluate(sqrt(1 + u * u));
      case 6: return evaluate(exp(-u * u));
      case 7: return evaluate(log(positive));
      case 8: return evaluate(log10(positive));
      case 9: return evaluate(sin(u));
      case 10: return evaluate(cos(u));
      case 11: return evaluate(tan(0.5 * small));
      case 12: return evaluate(asin(0.9 * small));
      case 13: return evaluate(acos(0.9 * small));
      case 14: return evaluate(atan(u));
      case 15: return evaluate(sinh(small));
      case 16: return evaluate(cosh(small));
      case 17: return evaluate(small);
      case 18: return evaluate(cbrt(positive));
      case 19: return evaluate(expm1(small));
      case 20: return evaluate(log2(positive));
      case 21: return evaluate(log1p(u * u));
      case 22: return evaluate(erf(u));
      case 23: return evaluate(atan2(u, 2 + v * v));
      case 24: return evaluate(hypot(u, 1 + v * v));
      case 25: return evaluate(pow(positive, tanh(v)));
      case 26: return evaluate(minimum(u, v));
      case 27: return evaluate(maximum(u, v));
      case 28: return evaluate(clip(u, -0.5, 0.5));
      case 29: return evaluate(where(u > v, u * u, 0.5 * v));
      case 30: return evaluate(square(u));
      case 31: return evaluate(abs(u));
      case 32: return evaluate(u * sum(v) / size);
      case 33: return evaluate(u - mean(v));
      case 34: return evaluate(u * dot(u, v) / (size * size));
      case 35: return evaluate(u / (1 + norm(v)));
      case 36: return evaluate(u * var(v));
      case 37: return evaluate(u * with_axis(sum(v, 1), 1) / size);
      case 38: return evaluate(u - with_axis(mean(v, 1), 1));
      case 39: return evaluate(reshard(shift(reshard(u, 1), 1, s.k), 0));
      case 40: return evaluate(shift(u, 0, s.k));
      case 41: return evaluate(v * shift(shift(u, 0, -s.k), 1, -s.k));
      case 42: {
        auto const h = with_halo(u, 1);
        auto const middle = h(range(1, -1));
        return from_parts(0.25 * (h(range(0, -2)) + h(range(2, end)) - 2 * middle), u.placement());
      }
      case 43: {
        auto const h = with_halo(u, 1, sharded::Edges::zero);
        return from_parts(h(range(0, -2)) - 0.5 * h(range(2, end)), u.placement());
      }
      case 44: return evaluate(u * replicate(sin(v)));
      case 45: return evaluate(sharded::shard(world(), replicate(u) * square_waves(4, n)));
      case 46: return evaluate(matmul(u, v) / size);
      case 47: return evaluate(matmul(u, square_waves(4, n)) / size);
      case 48: return evaluate(u * waves(4, n));
      case 49: return evaluate(cumsum(u, 1) / size);
      default: throw std::runtime_error("there is no statement " + std::to_string(s.code));
    }
  }
};

double along(sharded::Sharded<double, 2> const& gradient, int k, std::int64_t n) {
  return sum(gradient * square_waves(k, n));
}

TEST(SplitPrograms, HaveTheGradientsOfJax) {
  std::ifstream file(COIR_SPLIT_PROGRAMS);
  ASSERT_TRUE(file) << COIR_SPLIT_PROGRAMS;
  int compared = 0;
  for (std::string head, numbers; std::getline(file, head) && std::getline(file, numbers);) {
    std::istringstream program_line(head), number_line(numbers);
    Program program;
    std::size_t count = 0;
    program_line >> program.n >> count;
    program.statements.resize(count);
    for (auto& s : program.statements) program_line >> s.code >> s.a >> s.b >> s.k;
    double value = 0, of_x = 0, of_y = 0;
    number_line >> value >> of_x >> of_y;
    ASSERT_TRUE(program_line && number_line) << head;

    auto const n = program.n;
    auto const result = sharded::value_and_grad(program)(
        sharded::shard(world(), square_waves(0, n)), sharded::shard(world(), square_waves(1, n)));
    auto const expect_alike = [&](double found, double expected) {
      EXPECT_NEAR(found, expected, 1e-12 * std::max(1.0, std::abs(expected))) << head;
    };
    expect_alike(result.value, value);
    expect_alike(along(std::get<0>(result.gradient), 8, n), of_x);
    expect_alike(along(std::get<1>(result.gradient), 9, n), of_y);
    ++compared;
  }
  EXPECT_GE(compared, 100);
}

}  // namespace
