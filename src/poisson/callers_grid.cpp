#include <coir/core/errors.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <string>

namespace coir::poisson::detail {

void expects_ring(std::span<std::int64_t const> b, std::span<std::int64_t const> u) {
  for (std::size_t d = 0; d < b.size(); ++d) {
    expects(b[d] <= 2'000'000'000, "the grid must have at most 2e9 cells along an axis", b[d]);
    expects(u[d] == b[d] + 2,
            "u must be two cells larger than b along axis " + std::to_string(d) + " (" +
                std::to_string(b[d]) + " + 2), for the ring",
            u[d]);
  }
}

void expects_extents(char const* name, std::span<std::int64_t const> found, char const* grid,
                     std::span<int const> expected) {
  for (std::size_t d = 0; d < expected.size(); ++d)
    expects(found[d] == expected[d],
            std::string(name) + " must have as many cells along axis " + std::to_string(d) +
                " as " + grid + " (" + std::to_string(expected[d]) + ")",
            found[d]);
}

}  // namespace coir::poisson::detail
