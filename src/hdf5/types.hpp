#pragma once

#include "handle.hpp"

#include <coir/hdf5/types.hpp>

#include <optional>

namespace coir::hdf5 {

// The type in this machine's memory.
hid_t native(Type type);

// The type of stored numbers; none for text, compounds and numbers of other sizes.
std::optional<Type> type_of_stored(hid_t type);

// Whether stored numbers convert to another type: see Reader.
bool converts(Type stored, Type wanted);

// "(3, 4)", "(3,)", "()", as Python writes a tuple; -1 as "any".
std::string in_words(Shape const& shape);

// The number of elements, or the largest number if there are more, as in a damaged file.
std::int64_t size_of(Shape const& shape);

}  // namespace coir::hdf5
