#pragma once

/// Accounting texts, read in pieces by several threads.

#include "columns.hpp"
#include "job.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coir::apps::queue {

/// A line that isn't read: which, why, and how it begins.
struct OddLine {
  Flaw flaw;
  std::int64_t number;
  std::string begins;
};

/// A part of one text.
struct Piece {
  std::vector<char> buffer;
  std::string_view lines;  ///< whole ones, in the buffer
  std::shared_ptr<Columns const> columns;
  std::int64_t file = 0;  ///< which of the texts, from 0
  std::int64_t first_line = 0;
  std::optional<OddLine> odd;  ///< behind the others: longer than the buffer, or without an end
};

/// Goes through texts once, in order, a piece at a time; each thread that asks gets the next one.
class AccountingReader {
 public:
  static constexpr std::size_t most_bytes = 1 << 20;  ///< of a piece, and so of a line

  /// \param paths   files, pipes, or "-" for the standard input
  /// \param report  called with the bytes read so far, and with all there are, or 0 if nobody knows
  /// \throws InputError if a file is missing, a folder, or can't be opened
  /// \throws PreconditionError if a file is given twice
  AccountingReader(std::vector<std::filesystem::path> paths,
                   std::function<void(std::int64_t, std::int64_t)> report);
  ~AccountingReader();
  AccountingReader(AccountingReader const&) = delete;
  AccountingReader& operator=(AccountingReader const&) = delete;

  /// Sets the next piece; its buffer is used again. False at the end.
  ///
  /// \throws InputError if a text is empty, isn't text, or doesn't begin with sacct's names of
  ///   columns
  bool next(Piece& piece);

  std::int64_t bytes() const { return bytes_; }

 private:
  bool read_piece(Piece& piece);
  bool open_next();
  std::string_view fill(Piece& piece);
  void read_heading(std::string_view& text);

  std::mutex mutex_;
  std::vector<std::filesystem::path> paths_;
  std::function<void(std::int64_t, std::int64_t)> report_;
  std::int64_t total_ = 0;
  std::int64_t bytes_ = 0;

  int file_ = -1;
  std::size_t next_path_ = 0;
  bool has_failed_ = false;
  bool at_end_ = false;        // of the file
  bool in_long_line_ = false;  // of which nothing more is wanted
  std::int64_t line_ = 0;      // number of the next line
  std::vector<char> rest_;     // what was read and not given out
  std::shared_ptr<Columns const> columns_;
};

}  // namespace coir::apps::queue
