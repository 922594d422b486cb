#include <support/same_file.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <map>
#include <system_error>

namespace coir::apps {

namespace fs = std::filesystem;

namespace {

/// What tells a file from all others: where it lies on its device, or its name in a folder if it isn't there yet.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< of the file, or of its folder
  std::string name{};       ///< empty if the file is there
  auto operator<=>(Identity const&) const = default;
};

bool find(fs::path const& path, Identity& identity) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return false;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  return true;
}

Identity identity_of(fs::path const& path) {
  Identity identity;
  if (find(path, identity)) return identity;
  std::error_code none;
  fs::path file = path;
  if (fs::is_symlink(path, none) || !path.has_filename())
    file = io::resolved(fs::absolute(path, none));
  identity.name = file.filename().string();
  if (find(file.has_parent_path() ? file.parent_path() : ".", identity)) return identity;
  identity.name = io::resolved(fs::absolute(path, none)).string();
  return identity;
}

}  // namespace

bool same_file(fs::path const& a, fs::path const& b) { return identity_of(a) == identity_of(b); }

void expects_different_files(std::vector<NamedFile> const& outputs,
                             std::vector<NamedFile> const& inputs) {
  std::map<Identity, NamedFile> seen;
  auto const fail = [](NamedFile const& file, NamedFile const& other) {
    throw PreconditionError(
        file.name + " and " + other.name + " must name different files, and " + file.path.string() +
        (file.path == other.path ? " is named by both" : " is " + other.path.string()));
  };
  for (auto const& output : outputs) {
    if (output.path.empty()) continue;
    auto const [first, is_new] = seen.emplace(identity_of(output.path), output);
    if (!is_new) fail(first->second, output);
  }
  for (auto const& input : inputs) {
    if (input.path.empty()) continue;
    auto const output = seen.find(identity_of(input.path));
    if (output != seen.end()) fail(output->second, input);
  }
}

void expects_good_files(std::vector<NamedFile> const& outputs,
                        std::vector<NamedFile> const& inputs) {
  expects_different_files(outputs, inputs);
  for (auto const& output : outputs)
    if (!output.path.empty()) try {
        io::AtomicPath{output.path};
      } catch (ResourceError const& error) {
        throw ResourceError(output.name + " " + error.what());
      }
}

}  // namespace coir::apps
