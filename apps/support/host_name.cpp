#include <support/host_name.hpp>

#include <unistd.h>

#include <array>

namespace coir::apps {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name[0] == '\0' ? "machine" : name.data();
}

}  // namespace coir::apps
