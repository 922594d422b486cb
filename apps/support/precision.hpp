#pragma once

namespace coir::apps {

enum class Precision { float32, float64 };

/// The words of coir-escape and coir-jacobi for a precision.
constexpr char const* float_or_double(Precision precision) {
  return precision == Precision::float32 ? "float" : "double";
}

/// The words of coir-nbody and coir-field for a precision.
constexpr char const* single_or_double(Precision precision) {
  return precision == Precision::float32 ? "single" : "double";
}

}  // namespace coir::apps
