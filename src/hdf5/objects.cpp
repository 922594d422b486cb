#include "objects.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>

namespace coir::hdf5 {

std::string path_of(std::string_view name) {
  if (name == "/") return "/";
  if (name.starts_with('/')) name.remove_prefix(1);
  std::string path(name);
  bool valid = !path.empty() && path.find('\0') == std::string::npos;
  for (std::size_t first = 0; valid && first <= path.size();) {
    std::size_t const last = std::min(path.find('/', first), path.size());
    std::string const part = path.substr(first, last - first);
    valid = !part.empty() && part != ".";
    first = last + 1;
  }
  expects(valid, "a name in an HDF5 file must be parts with one slash between them, like 'a/b'",
          "'" + path + "'");
  return path;
}

bool exists(hid_t file, std::string const& path) {
  if (path == "/") return true;
  for (std::size_t last = path.find('/');; last = path.find('/', last + 1)) {
    std::string const part = path.substr(0, last);
    // The second question is whether a link leads anywhere.
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 ||
        H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0)
      return false;
    if (last == std::string::npos) return true;
  }
}

bool has_no_links(hid_t file, std::string const& path) {
  if (path == "/") return true;
  for (std::size_t last = path.find('/');; last = path.find('/', last + 1)) {
    H5L_info_t info;
    if (H5Lget_info(file, path.substr(0, last).c_str(), &info, H5P_DEFAULT) < 0 ||
        info.type != H5L_TYPE_HARD)
      return false;
    if (last == std::string::npos) return true;
  }
}

}  // namespace coir::hdf5
