#pragma once

#include <coir/distributed/longest_piece.hpp>

#include <cstdint>

namespace coir::testing {

/// Lets messages be of so many bytes at most while it lives. On all ranks alike.
class CutAt {
 public:
  explicit CutAt(std::int64_t bytes) : before_(distributed::longest_piece()) {
    distributed::set_longest_piece(bytes);
  }
  ~CutAt() { distributed::set_longest_piece(before_); }
  CutAt(CutAt const&) = delete;
  CutAt& operator=(CutAt const&) = delete;

 private:
  std::int64_t before_;
};

}  // namespace coir::testing
