#include <coir/poisson/direct.hpp>

namespace coir::poisson {

bool has_direct() { return false; }

}  // namespace coir::poisson
