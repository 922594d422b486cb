// What must not compile, one case at a time, and with a message that a person can read: see CMakeLists.txt.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#if defined(MISUSE_product)
#include <coir/linalg/matmul.hpp>
#endif

#include <vector>

namespace {

using Vector = coir::Array<double, 1>;
using Matrix = coir::Array<double, 2>;

/// Functions of one array that are not differentiated.
struct Objective {
  Matrix matrix;

  template <class X>
  auto operator()(X const& x) const {
#if defined(MISUSE_no_reduction)
    return x * 2;
#elif defined(MISUSE_nothing)
    sum(x);
#elif defined(MISUSE_pad)
    return sum(pad(x, 1));
#elif defined(MISUSE_repeat)
    return sum(square(repeat(x, 2, 0)));
#elif defined(MISUSE_written)
    auto u = evaluate(x);
    u(0) = 2 * u(1);
    return sum(u);
#elif defined(MISUSE_product)
    return sum(square(matmul(matrix, x)));
#elif defined(MISUSE_assigned)
    auto u = x;
    u = u + 1;
    return sum(u);
#elif defined(MISUSE_added_to)
    auto u = x;
    u += 1;
    return sum(u);
#elif defined(MISUSE_part_added_to)
    auto u = evaluate(x);
    u(coir::range(0, 2)) += 1;
    return sum(u);
#elif defined(MISUSE_other_rank)
    auto u = evaluate(x);
    u = u(0);
    return sum(u);
#elif defined(MISUSE_reduction_added_to)
    auto s = sum(x);
    s += sum(x * x);
    return s;
#elif defined(MISUSE_number_added_to)
    double s = 0;
    s += sum(x * x);
    return s + sum(x);
#elif defined(MISUSE_sort)
    return sum(sort(x));
#elif defined(MISUSE_median)
    return median(x);
#elif defined(MISUSE_argmax)
    return argmax(x);
#elif defined(MISUSE_branch)
    if (sum(x) > 0) return sum(x);
    return sum(x);
#else
    return maximum(sum(x), 0);
#endif
  }
};

struct OfTwo {
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    return sum(x * y);
  }
};

struct OfDouble {
  double operator()(double x) const { return x * x; }
};

}  // namespace

void misuse(Matrix const& x, [[maybe_unused]] Vector const& row) {
  Objective const f{};
#if defined(MISUSE_array_beside_number)
  auto const result = coir::grad(OfTwo{})(x, 2.0);
#elif defined(MISUSE_two_types)
  auto const result = coir::grad(OfTwo{})(row, coir::Array<float, 1>());
#elif defined(MISUSE_integers)
  auto const result = coir::grad(f)(coir::Array<int, 2>());
#elif defined(MISUSE_too_few)
  auto const result = coir::grad(OfTwo{})(x);
#elif defined(MISUSE_hessian_of_array)
  auto const result = coir::hessian(f)(x);
#elif defined(MISUSE_jacobian_of_array)
  auto const result = coir::jacobian(f)(x);
#elif defined(MISUSE_jvp_of_arrays)
  auto const result = coir::jvp(f)(x, x);
#elif defined(MISUSE_grad_of_grad)
  auto const result = coir::grad(coir::grad(f))(x);
#elif defined(MISUSE_vector)
  auto const result = coir::grad(f)(std::vector<double>(3));
#elif defined(MISUSE_no_arguments)
  auto const result = coir::grad(f)();
#elif defined(MISUSE_not_generic)
  auto const result = coir::grad(OfDouble{})(2.0);
#else
  auto const result = coir::grad(f)(x);
#endif
}
