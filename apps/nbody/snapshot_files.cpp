#include "snapshot_files.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>

namespace coir::apps::nbody {

namespace fs = std::filesystem;

std::vector<fs::path> other_snapshot_files(FileNames const& names, double a, int files) {
  fs::path const whole = names.snapshot(a, 1, 0);
  std::string const stem = whole.stem().string() + ".", ending = whole.extension().string();
  std::set<fs::path> replaced;
  for (int file = 0; file < files; ++file) replaced.insert(names.snapshot(a, files, file));
  std::vector<fs::path> others;
  std::error_code none;
  for (fs::directory_iterator entry(whole.parent_path(), none), last; !none && entry != last;
       entry.increment(none)) {
    std::string const name = entry->path().filename().string();
    bool const is_part =
        name.starts_with(stem) && name.ends_with(ending) &&
        name.size() > stem.size() + ending.size() &&
        name.find_first_not_of("0123456789", stem.size()) == name.size() - ending.size();
    if ((is_part || name == whole.filename()) && !replaced.contains(whole.parent_path() / name))
      others.push_back(whole.parent_path() / name);
  }
  std::sort(others.begin(), others.end());
  return others;
}

void expects_no_other_snapshot_files(FileNames const& names, double a, int files) {
  auto const others = other_snapshot_files(names, a, files);
  if (others.empty()) return;
  throw ResourceError(
      others.front().string() +
      " is of an earlier run's snapshot in another number of files, and readers would mix it with "
      "this one's: remove it, or name another --output");
}

void remove_other_snapshot_files(FileNames const& names, double a, int files) {
  std::error_code none;
  for (auto const& other : other_snapshot_files(names, a, files)) fs::remove(other, none);
}

}  // namespace coir::apps::nbody
