#include <coir/poisson/direct.hpp>

namespace coir::poisson {

bool has_direct() { return true; }

}  // namespace coir::poisson
