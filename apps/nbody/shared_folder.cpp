#include "shared_folder.hpp"

#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <support/host_name.hpp>
#include <support/on_all.hpp>

#include <chrono>
#include <string>
#include <system_error>
#include <thread>

namespace coir::apps::nbody {

namespace fs = std::filesystem;

namespace {

/// Whether a file that another machine has just written is seen here.
bool appears(fs::path const& file) {
  using Clock = std::chrono::steady_clock;
  std::error_code none;
  auto const folder = fs::absolute(file, none).parent_path();
  for (auto const end = Clock::now() + std::chrono::seconds(5);;) {
    // Network file systems remember for a while what wasn't there, unless the folder is opened
    // again.
    for (auto const& opened : {folder.parent_path(), folder}) fs::directory_iterator(opened, none);
    if (fs::exists(file, none)) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

SharedFolder::SharedFolder(distributed::Group const& ranks, fs::path const& folder,
                           fs::path const& first) {
  std::optional<io::AtomicPath> token;  // which never gets its name
  std::error_code none;
  std::string const here = fs::absolute(folder, none).string() + " on " + host_name();
  on_first(ranks, [&] {
    folder_.emplace(folder, first);
    if (ranks.size() > 1) token.emplace(folder / "seen");
  });
  if (ranks.size() == 1) return;
  std::string const name =
      ranks.broadcast(token ? token->temporary().filename().string() : std::string());
  std::string const there = ranks.broadcast(here);
  on_all(ranks, [&] {
    if (ranks.is_first()) return;
    if (!appears(folder / name))
      throw ResourceError("rank " + std::to_string(ranks.rank()) + " doesn't see in " + here +
                          " what the first rank writes to " + there +
                          ": name a folder that all ranks share");
    io::AtomicPath{first};  // can it be written from here?
  });
}

}  // namespace coir::apps::nbody
