// What must not compile, one case at a time, and with a message that a person can read: see CMakeLists.txt.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <vector>

namespace {

using Vector = coir::Array<double, 1>;
using Matrix = coir::Array<double, 2>;
using Wide = coir::Array<double, 3>;

/// Functions of one array that are not differentiated.
struct Objective {
  Wide captured;

  template <class X>
  auto operator()(X const& x) const {
#if defined(MISUSE_slice)
    return sum(x(coir::range(1, 3)));
#elif defined(MISUSE_differences)
    return sum(square(x(coir::range(1, coir::end)) - x(coir::range(0, -1))));
#elif defined(MISUSE_element)
    return sum(x) * x(0, 1);
#elif defined(MISUSE_no_reduction)
    return x * 2;
#elif defined(MISUSE_nothing)
    sum(x);
#elif defined(MISUSE_demeaned)
    return sum(square(x - mean(x)));
#elif defined(MISUSE_softmax)
    return sum(square(exp(x) / sum(exp(x))));
#elif defined(MISUSE_roll)
    return sum(roll(x, 1));
#elif defined(MISUSE_cumsum)
    return sum(cumsum(x, 0));
#elif defined(MISUSE_sum_along_axis)
    return sum(square(sum(x, 0)));
#elif defined(MISUSE_transpose)
    return sum(transpose(x) * x);
#elif defined(MISUSE_concatenate)
    return sum(concatenate(0, x, x));
#elif defined(MISUSE_variance)
    return var(x);
#elif defined(MISUSE_sort)
    return sum(sort(x));
#elif defined(MISUSE_median)
    return median(x);
#elif defined(MISUSE_argmax)
    return argmax(x);
#elif defined(MISUSE_branch)
    if (sum(x) > 0) return sum(x);
    return sum(x);
#elif defined(MISUSE_stretched)
    return sum(captured * x);
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
#elif defined(MISUSE_two_ranks)
  auto const [value, slopes] = coir::value_and_grad(OfTwo{})(x, row);
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
