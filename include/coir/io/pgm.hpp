#pragma once

/// \file
/// Portable grey maps: P2 (text) and P5 (binary) are read, P5 is written.

#include <coir/io/gray_image.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace coir::io {

/// The picture in the bytes of a PGM file.
///
/// Plain (P2) and binary (P5), with 8 bits for a maxval up to 255 and 16 bits (big-endian) above.
/// Samples are those of the file, and the picture's maximum() is the maxval. Comments (# to the end
/// of the line) may stand wherever P2 has white space, and in P5's header before maxval. Bytes
/// behind the picture are an error; in P2 white space and comments may follow.
///
/// \param name  the file's name, for messages
/// \throws InputError naming the byte or field, its value, the limit and a remedy
/// \throws ResourceError if memory is short
/// \see https://netpbm.sourceforge.net/doc/pgm.html
GrayImage decode_pgm(std::span<std::byte const> bytes, std::string_view name);

/// The bytes of a binary PGM (P5) with the picture's maximum() as maxval.
///
/// \throws PreconditionError if the picture's extents, bits and samples don't agree
std::vector<std::byte> encode_pgm(GrayImage const& image);

/// Reads a PGM file: read_file, then decode_pgm.
GrayImage read_pgm(std::filesystem::path const& path);

/// Writes a binary PGM file, whole or not at all.
///
/// \throws PreconditionError and ResourceError as encode_pgm and AtomicFile
void write_pgm(std::filesystem::path const& path, GrayImage const& image);

/// Writes a binary PGM file from rows that are made one by one, so that only one is in memory.
void write_pgm(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill);

}  // namespace coir::io
