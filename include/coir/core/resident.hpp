#pragma once

/// \file
/// How much memory this process holds.

#include <cstdint>

namespace coir {

/// The host memory that this process holds now, its code and libraries included; 0 if the system
/// doesn't tell.
std::int64_t resident_bytes();

/// The most host memory that this process has held so far; 0 if the system doesn't tell.
std::int64_t peak_resident_bytes();

}  // namespace coir
