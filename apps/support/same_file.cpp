#include <support/same_file.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <system_error>

namespace coir::apps {

namespace fs = std::filesystem;

bool same_file(fs::path const& a, fs::path const& b) {
  std::error_code none;
  if (fs::equivalent(a, b, none)) return true;
  if (fs::exists(a, none) || fs::exists(b, none)) return false;
  return io::resolved(fs::absolute(a, none)) == io::resolved(fs::absolute(b, none));
}

void expects_different_files(std::vector<NamedFile> const& outputs,
                             std::vector<NamedFile> const& inputs) {
  auto const check = [](NamedFile const& output, NamedFile const& other) {
    if (output.path.empty() || other.path.empty()) return;
    expects(!same_file(output.path, other.path),
            output.name + " and " + other.name + " must name different files, and " +
                output.path.string() +
                (output.path == other.path ? " is named by both" : " is " + other.path.string()));
  };
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    for (std::size_t m = 0; m < n; ++m) check(outputs[m], outputs[n]);
    for (auto const& input : inputs) check(outputs[n], input);
  }
}

}  // namespace coir::apps
