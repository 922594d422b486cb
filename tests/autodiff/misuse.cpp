// What must not compile, one case at a time, and with a message that a person can read: that beside
// it.

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
#if defined(MISUSE_no_reduction)  // must end in a reduction
    return x * 2;
#elif defined(MISUSE_nothing)        // and return something
    sum(x);
#elif defined(MISUSE_gradient)       // by a function that has no derivative
    return sum(square(gradient(x, matrix(0), 0)));
#elif defined(MISUSE_written)        // aren't written
    auto u = x;
    u(0) = 2 * u(1);
    return sum(u);
#elif defined(MISUSE_const_written)  // aren't written
    auto const u = evaluate(x);
    u(0) = 2 * u(1);
    return sum(u);
#elif defined(MISUSE_product)
    return sum(square(matmul(matrix, x)));
#elif defined(MISUSE_assigned)            // begin with a statement of your own
    auto u = x;
    u = u + 1;
    return sum(u);
#elif defined(MISUSE_added_to)            // begin with a statement of your own
    auto u = x;
    u += 1;
    return sum(u);
#elif defined(MISUSE_part_added_to)       // aren't written
    auto u = evaluate(x);
    u(0)(coir::range(0, 2)) += 1;
    return sum(u);
#elif defined(MISUSE_axes_written)        // the values have more axes
    auto u = evaluate(x);
    u(0) = x;
    return sum(u);
#elif defined(MISUSE_other_rank)          // keeps its number of axes
    auto u = evaluate(x);
    u = u(0);
    return sum(u);
#elif defined(MISUSE_reduction_added_to)  // auto s = evaluate(sum(x))
    auto s = sum(x);
    s += sum(x * x);
    return s;
#elif defined(MISUSE_number_added_to)     // auto s = evaluate(sum(x))
    double s = 0;
    s += sum(x * x);
    return s + sum(x);
#elif defined(MISUSE_unique)              // there is no derivative of unique
    return sum(unique(x));
#elif defined(MISUSE_argmax)              // and it must end in a reduction
    return argmax(x);
#elif defined(MISUSE_branch)              // is no number yet
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
#if defined(MISUSE_array_beside_vector)  // take real numbers, and arrays of coir's
  auto const result = coir::grad(OfTwo{})(x, std::vector<double>(3));
#elif defined(MISUSE_integers_beside)     // takes arrays of float or double
  auto const result = coir::grad(OfTwo{})(row, coir::Array<int, 1>());
#elif defined(MISUSE_integers)            // takes arrays of float or double
  auto const result = coir::grad(f)(coir::Array<int, 2>());
#elif defined(MISUSE_too_few)             // must take an expression for each argument
  auto const result = coir::grad(OfTwo{})(x);
#elif defined(MISUSE_hessian_of_arrays)   // hessian takes real numbers
  auto const result = coir::hessian(f)(x, x);
#elif defined(MISUSE_jacobian_of_arrays)  // jacobian takes real numbers
  auto const result = coir::jacobian(f)(x, x);
#elif defined(MISUSE_jvp_of_arrays)       // takes a point and a direction
  auto const result = coir::jvp(f)(x, x, x, x);
#elif defined(MISUSE_grad_of_grad)        // must end in a reduction
  auto const result = coir::grad(coir::grad(f))(x);
#elif defined(MISUSE_vector)              // take real numbers, and arrays of coir's
  auto const result = coir::grad(f)(std::vector<double>(3));
#elif defined(MISUSE_no_arguments)        // are called with what f is to be called with
  auto const result = coir::grad(f)();
#elif defined(MISUSE_not_generic)         // it must be generic in their type
  auto const result = coir::grad(OfDouble{})(2.0);
#else
  auto const result = coir::grad(f)(x);
#endif
}
