#pragma once

#include "handle.hpp"

#include <string>
#include <string_view>

namespace coir::hdf5 {

// A name without slashes around it; "/" is the root. PreconditionError for an empty name or part of
// one.
std::string path_of(std::string_view name);

// Whether each part of a path is there; H5Lexists alone fails where a group on the way is missing.
bool exists(hid_t file, std::string const& path);

// Whether no part of a path that exists is a soft link, or one to another file.
bool has_no_links(hid_t file, std::string const& path);

}  // namespace coir::hdf5
