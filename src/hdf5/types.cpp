#include "types.hpp"

#include <limits>

namespace coir::hdf5 {

namespace {

struct Kind {
  bool floating;
  bool is_signed;
  int digits;  // binary ones, without the sign
};

Kind kind_of(Type type) {
  switch (type) {
    case Type::int8: return {false, true, 7};
    case Type::int16: return {false, true, 15};
    case Type::int32: return {false, true, 31};
    case Type::int64: return {false, true, 63};
    case Type::uint8: return {false, false, 8};
    case Type::uint16: return {false, false, 16};
    case Type::uint32: return {false, false, 32};
    case Type::uint64: return {false, false, 64};
    case Type::float32: return {true, true, std::numeric_limits<float>::digits};
    case Type::float64: break;
  }
  return {true, true, std::numeric_limits<double>::digits};
}

}  // namespace

std::string name_of(Type type) {
  switch (type) {
    case Type::int8: return "int8";
    case Type::int16: return "int16";
    case Type::int32: return "int32";
    case Type::int64: return "int64";
    case Type::uint8: return "uint8";
    case Type::uint16: return "uint16";
    case Type::uint32: return "uint32";
    case Type::uint64: return "uint64";
    case Type::float32: return "float32";
    case Type::float64: break;
  }
  return "float64";
}

hid_t native(Type type) {
  switch (type) {
    case Type::int8: return H5T_NATIVE_INT8;
    case Type::int16: return H5T_NATIVE_INT16;
    case Type::int32: return H5T_NATIVE_INT32;
    case Type::int64: return H5T_NATIVE_INT64;
    case Type::uint8: return H5T_NATIVE_UINT8;
    case Type::uint16: return H5T_NATIVE_UINT16;
    case Type::uint32: return H5T_NATIVE_UINT32;
    case Type::uint64: return H5T_NATIVE_UINT64;
    case Type::float32: return H5T_NATIVE_FLOAT;
    case Type::float64: break;
  }
  return H5T_NATIVE_DOUBLE;
}

std::optional<Type> type_of_stored(hid_t type) {
  H5T_class_t const kind = H5Tget_class(type);
  std::size_t const bytes = H5Tget_size(type);
  if (kind == H5T_FLOAT) {
    if (bytes == 4) return Type::float32;
    if (bytes == 8) return Type::float64;
  }
  if (kind == H5T_INTEGER) {
    bool const is_signed = H5Tget_sign(type) == H5T_SGN_2;
    // Numbers of 3, 5, 6 or 7 bytes are converted to the next larger type: GADGET-4 writes IDs of
    // 48 bits.
    if (bytes == 1) return is_signed ? Type::int8 : Type::uint8;
    if (bytes == 2) return is_signed ? Type::int16 : Type::uint16;
    if (bytes <= 4) return is_signed ? Type::int32 : Type::uint32;
    if (bytes <= 8) return is_signed ? Type::int64 : Type::uint64;
  }
  return std::nullopt;
}

bool converts(Type stored, Type wanted) {
  Kind const from = kind_of(stored), to = kind_of(wanted);
  if (from.floating) return to.floating;
  return from.digits <= to.digits && (to.is_signed || !from.is_signed);
}

std::string in_words(Shape const& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += shape[d] == -1 ? "any" : std::to_string(shape[d]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t size_of(Shape const& shape) {
  std::int64_t size = 1;
  bool overflow = false;
  for (std::int64_t const extent : shape) {
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(size, extent, &size);
  }
  return overflow ? std::numeric_limits<std::int64_t>::max() : size;
}

}  // namespace coir::hdf5
