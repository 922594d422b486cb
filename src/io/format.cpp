#include <coir/io/file.hpp>
#include <coir/io/format.hpp>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace coir::io {

Format format_of_content(std::filesystem::path const& path) {
  auto const bytes = read_file(path, 8);
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  return Format::unknown;
}

Format format_of_name(std::filesystem::path const& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".png") return Format::png;
  if (ending == ".npy") return Format::npy;
  return Format::unknown;
}

}  // namespace coir::io
