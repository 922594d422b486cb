#include <coir/io/unfinished.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <unistd.h>

namespace coir::io {

namespace {

enum class State { free, changing, named };

// A signal handler may neither lock nor allocate: the names lie in memory that is always there.
struct Slot {
  std::atomic<State> state{State::free};
  std::array<char, 4096> path;
};

static_assert(std::atomic<State>::is_always_lock_free);

std::array<Slot, 64> slots;

bool claim(Slot& slot, State from) {
  return slot.state.compare_exchange_strong(from, State::changing);
}

}  // namespace

Unfinished::Unfinished(std::filesystem::path const& path) {
  std::string const& name = path.native();
  for (std::size_t n = 0; n < slots.size(); ++n) {
    Slot& slot = slots[n];
    if (name.size() >= slot.path.size() || !claim(slot, State::free)) continue;
    std::memcpy(slot.path.data(), name.c_str(), name.size() + 1);
    slot.state = State::named;
    slot_ = static_cast<int>(n);
    return;
  }
}

Unfinished::Unfinished(Unfinished&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

Unfinished::~Unfinished() {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  // Not if remove_unfinished() has it: then the program is at its end.
  if (claim(slot, State::named)) slot.state = State::free;
}

void remove_unfinished() noexcept {
  int const error = errno;
  std::array<bool, std::tuple_size_v<decltype(slots)>> is_folder{};
  for (std::size_t n = 0; n < slots.size(); ++n)
    is_folder[n] = claim(slots[n], State::named) && ::unlink(slots[n].path.data()) != 0;
  for (std::size_t n = 0; n < slots.size(); ++n)  // once they are empty
    if (is_folder[n]) ::rmdir(slots[n].path.data());
  errno = error;
}

}  // namespace coir::io
