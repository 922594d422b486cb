// What must not compile, one case at a time, and with a message that a person can read: see CMakeLists.txt.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

namespace {

struct Objective {
  coir::Array<double, 3> captured;

  template <class X>
  auto operator()(X const& x) const {
#if COIR_MISUSE == 1
    return sum(x(coir::range(1, 3)));
#elif COIR_MISUSE == 2
    return x * 2;
#elif COIR_MISUSE == 3
    return sum(x - mean(x));
#elif COIR_MISUSE == 4
    return sum(roll(x, 1));
#elif COIR_MISUSE == 5
    return sum(captured * x);
#else
    return sum(x);
#endif
  }
};

#if COIR_MISUSE == 6
using Argument = coir::Array<int, 2>;
#else
using Argument = coir::Array<double, 2>;
#endif

}  // namespace

void misuse(Argument const& x) { coir::grad(Objective{})(x); }
