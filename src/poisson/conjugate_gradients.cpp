#include <coir/poisson/conjugate_gradients.hpp>

namespace coir::poisson {

bool has_conjugate_gradients() {
#if __has_include(<KokkosSparse_CrsMatrix.hpp>)
  return true;
#else
  return false;
#endif
}

}  // namespace coir::poisson
