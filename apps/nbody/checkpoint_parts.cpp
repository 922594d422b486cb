#include "checkpoint_parts.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

namespace coir::apps::nbody {

std::filesystem::path checkpoint_part(std::filesystem::path const& checkpoint, char letter,
                                      int part) {
  return checkpoint.parent_path() / (checkpoint.stem().string() + "." + letter + "." +
                                     std::to_string(part) + checkpoint.extension().string());
}

std::filesystem::path checkpoint_of_part(std::filesystem::path const& part) {
  std::filesystem::path const number = part.stem().extension(),
                              letter = part.stem().stem().extension();
  bool const is_number = number.string().find_first_not_of("0123456789", 1) == std::string::npos;
  if (number.string().size() < 2 || number.string().size() > 9 || !is_number ||
      letter.string().size() != 2 ||
      checkpoint_letters.find(letter.string()[1]) == std::string_view::npos)
    return {};
  return part.parent_path() / (part.stem().stem().stem().string() + part.extension().string());
}

namespace {

struct Part {
  std::filesystem::path path;
  char letter;
  int number;
};

/// All parts beside a checkpoint whose names say that they are its.
std::vector<Part> parts_beside(std::filesystem::path const& checkpoint) {
  std::vector<Part> parts;
  std::error_code none;
  auto const folder = checkpoint.has_parent_path() ? checkpoint.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, none), last; !none && entry != last;
       entry.increment(none)) {
    std::filesystem::path const stem = entry->path().stem();
    if (checkpoint_of_part(entry->path()).filename() == checkpoint.filename())
      parts.push_back({entry->path(), stem.stem().extension().string()[1],
                       std::stoi(stem.extension().string().substr(1))});
  }
  return parts;
}

}  // namespace

char free_checkpoint_letter(std::filesystem::path const& checkpoint) {
  auto const parts = parts_beside(checkpoint);
  for (char const letter : checkpoint_letters)
    if (std::none_of(parts.begin(), parts.end(),
                     [&](Part const& part) { return part.letter == letter; }))
      return letter;
  throw ResourceError(checkpoint_part(checkpoint, 'a', 0).string() + " to " +
                      checkpoint_part(checkpoint, 'z', 0).filename().string() +
                      " are all there, left by runs that were ended while they wrote them: remove "
                      "those that the checkpoint doesn't need");
}

void remove_other_parts(std::filesystem::path const& checkpoint, char letter, int parts) {
  std::error_code none;
  for (Part const& part : parts_beside(checkpoint))
    if (part.letter != letter || part.number >= parts) std::filesystem::remove(part.path, none);
}

}  // namespace coir::apps::nbody
