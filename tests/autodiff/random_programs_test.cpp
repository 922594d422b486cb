// Random programs of 3 to 8 statements, whose values and gradients random_programs.py had from JAX.
// Another file than random_programs.txt may be named by COIR_JAX_PROGRAMS.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/einsum.hpp>
#include <coir/autodiff/solve.hpp>
#include <coir/autodiff/stop_gradient.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

using coir::Array;
using coir::end;
using coir::Pad;
using coir::range;
using coir::testing::waves;

namespace {

struct Statement {
  int code, a, b;
  std::int64_t k;
};

/// tests/autodiff/random_programs.py has the same statements in the same order.
struct Program {
  std::int64_t n;
  std::vector<Statement> statements;

  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    using Name = std::remove_const_t<decltype(evaluate(x))>;
    std::vector<Name> names{evaluate(x), evaluate(y)};
    for (auto const& s : statements)
      names.push_back(
          made_of(names[static_cast<std::size_t>(s.a)], names[static_cast<std::size_t>(s.b)], s));
    return sum(names.back() * waves(5, n));
  }

 private:
  template <class U>
  auto matrix(U const& u) const {
    return evaluate(coir::eye<double>(n) + outer(sin(u), waves(4, n)) / static_cast<double>(n));
  }
  template <class U>
  auto symmetric(U const& u) const {
    Array<double, 2> const diagonal = coir::eye<double>(n) * coir::arange<double>(n);
    auto const t = evaluate(tanh(u));
    return evaluate(diagonal + outer(t, t));
  }
  Array<bool, 1> held() const { return coir::evaluate(coir::arange<int>(int(n)) % 3 != 1); }

  template <class U>
  U made_of(U const& u, U const& v, Statement const& s) const {
    auto const from = s.k % n;
    auto const size = static_cast<double>(n);
    auto const part = range(from, from + n), of_margin = range(s.k % 3, s.k % 3 + n);
    auto const w = waves(4, n);
    switch (s.code) {
      case 0: return evaluate(u + v);
      case 1: return evaluate(u * v);
      case 2: return evaluate(u / (2 + v * v));
      case 3: return evaluate(sin(u));
      case 4: return evaluate(exp(-u * u));
      case 5: return evaluate(tanh(u) * v);
      case 6: return evaluate(sqrt(1 + u * u));
      case 7: return evaluate(log(2 + u * u));
      case 8: return evaluate(where(u > v, u * u, 0.5 * v));
      case 9: return evaluate(maximum(u, v));
      case 10: return roll(u, s.k);
      case 11: return flip(u);
      case 12: return evaluate(cumsum(u) / size);
      case 13: return cumprod(sin(u));
      case 14: return cumprod(where(held(), cos(u), 0));
      case 15: {
        auto const i = coir::arange<std::int64_t>(n);
        return take(u, (i * i + s.k) % n);
      }
      case 16: return repeat(u, 2)(part);
      case 17: return pad(u, {1, 2}, Pad::symmetric)(of_margin);
      case 18: return pad(u, {2, 1}, Pad::wrap)(of_margin);
      case 19: return pad(u, {1, 0})(range(0, n));
      case 20: return sort(u);
      case 21: return evaluate(u - median(u));
      case 22: return evaluate(v * quantile(u, 0.3));
      case 23: {
        auto const q = quantile(u, {0.2, 0.7});
        return evaluate(u * q(0) + q(1));
      }
      case 24: {
        auto const some = compress(u, held());
        return pad(some, {0, n - count_nonzero(held())});
      }
      case 25: {
        auto t = u;
        t(range(1, end)) = v(range(0, -1));
        t(0) += u(-1);
        return t;
      }
      case 26: {
        auto t = u;
        t(range(0, end, 2)) *= v(range(0, end, 2));
        return t;
      }
      case 27: {
        auto const e = evaluate(exp(u - max(u)));
        return evaluate(e / sum(e));
      }
      case 28: return evaluate(u - mean(u));
      case 29: return evaluate(u / (1 + norm(v)));
      case 30: return evaluate(u * var(v));
      case 31: return evaluate(u * prod(1 + 0.1 * sin(v)));
      case 32: return evaluate(u + min(v));
      case 33: return solve(matrix(u), v);
      case 34: return matmul(matrix(u), v);
      case 35: return evaluate(v * det(matrix(u)));
      case 36: return matmul(inv(matrix(u)), v);
      case 37: {
        auto const a = matrix(u);
        return matmul(cholesky(matmul(a, transpose(a))), sin(v));
      }
      case 38: return evaluate(eigvalsh(symmetric(u)) / size * v);
      case 39: return matmul(square(eigh(symmetric(u)).vectors), v);
      case 40: return coir::einsum<"ij,j->i">(matrix(u), v);
      case 41: {
        auto const product = coir::einsum<"ij,kj->ik">(outer(u, v), matrix(v));
        return evaluate(product(range(), from) / size);
      }
      case 42: return concatenate(0, u(range(n / 2, end)), v(range(0, n / 2)));
      case 43: return tile(u, 2)(part);
      case 44: return pad(diff(u), {1, 0});
      case 45: return evaluate(sum(sort(outer(u, w), 0), 1) / size);
      case 46: return evaluate(sum(cumprod(cos(outer(u, v)), 1), 0) / size);
      case 47: return evaluate(log(sum(exp(outer(sin(u), w)), 1)));
      case 48: return max(stack(0, u, v), 0);
      case 49: return evaluate(coir::stop_gradient(u) * v);
      case 50: return take(v, argsort(u));
      default: throw std::runtime_error("there is no statement " + std::to_string(s.code));
    }
  }
};

/// The next numbers of a line.
template <class T>
std::vector<T> numbers_in(std::istream& line, std::size_t count) {
  std::vector<T> numbers(count);
  for (auto& number : numbers) line >> number;
  if (!line) throw std::runtime_error("the file of programs ends early");
  return numbers;
}

}  // namespace

// The error of each element is that of at most 8 statements of condition numbers of some 10, as
// JAX's is.
TEST(RandomPrograms, HaveTheGradientsOfJax) {
  char const* const named = std::getenv("COIR_JAX_PROGRAMS");
  std::string const path = named ? named : COIR_TEST_FOLDER "/random_programs.txt";
  std::ifstream file(path);
  int programs = 0;
  std::size_t n, statements;
  while (file >> n >> statements) {
    auto const codes = numbers_in<int>(file, 4 * statements);
    Program program{static_cast<std::int64_t>(n), {}};
    std::string said = std::to_string(n) + " numbers:";
    for (std::size_t i = 0; i < statements; ++i) {
      auto const* const s = &codes[4 * i];
      program.statements.push_back({s[0], s[1], s[2], s[3]});
      for (int j = 0; j < 4; ++j) said += (j == 0 ? "  " : " ") + std::to_string(s[j]);
    }
    SCOPED_TRACE(said);
    auto const expected = numbers_in<double>(file, 1 + 2 * n);
    auto const x = waves(0, program.n), y = waves(1, program.n);
    auto const [value, slopes] =
        coir::value_and_grad([&](auto x, auto y) { return program(x, y); })(x, y);
    double scale = 1;
    for (double const number : expected) scale = std::max(scale, std::abs(number));
    EXPECT_NEAR(value, expected[0], 1e-12 * scale);
    auto const found = coir::testing::lists_of(slopes);
    for (std::size_t i = 0; i < 2 * n; ++i)
      EXPECT_NEAR(found[i / n][i % n], expected[1 + i], 1e-12 * scale) << "element " << i;
    ++programs;
  }
  EXPECT_GT(programs, 0) << path;
}
