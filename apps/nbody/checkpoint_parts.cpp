#include "checkpoint_parts.hpp"

#include <coir/core/errors.hpp>

#include <string>
#include <system_error>

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
  if (number.string().size() < 2 || !is_number || letter.string().size() != 2 ||
      checkpoint_letters.find(letter.string()[1]) == std::string_view::npos)
    return {};
  return part.parent_path() / (part.stem().stem().stem().string() + part.extension().string());
}

char free_checkpoint_letter(std::filesystem::path const& checkpoint) {
  std::error_code none;
  for (char const letter : checkpoint_letters)
    if (!std::filesystem::exists(checkpoint_part(checkpoint, letter, 0), none)) return letter;
  throw ResourceError(checkpoint_part(checkpoint, 'a', 0).string() + " to " +
                      checkpoint_part(checkpoint, 'z', 0).filename().string() +
                      " are all there, left by runs that were ended while they wrote them: remove "
                      "those that the checkpoint doesn't need");
}

void remove_checkpoint_parts(std::filesystem::path const& checkpoint, char letter, int first,
                             int ranks) {
  std::error_code none;
  for (int part = first;
       std::filesystem::remove(checkpoint_part(checkpoint, letter, part), none) || part < ranks;)
    ++part;
}

}  // namespace coir::apps::nbody
