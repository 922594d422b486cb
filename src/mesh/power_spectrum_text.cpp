#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/mesh/power_spectrum_text.hpp>

#include <charconv>
#include <cstddef>

namespace coir::mesh {

namespace {

// The shortest text that reads back as the same number.
std::string shortest(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

}  // namespace

void write_power_spectrum(std::filesystem::path const& path, PowerSpectrum const& spectrum,
                          std::span<std::string const> header) {
  std::size_t const rows = spectrum.k.size();
  expects(spectrum.power.size() == rows && spectrum.modes.size() == rows,
          "k, power and modes of a power spectrum must have the same length, not " +
              std::to_string(rows) + ", " + std::to_string(spectrum.power.size()) + " and " +
              std::to_string(spectrum.modes.size()));
  std::string text;
  for (std::string const& line : header) {
    expects(line.find_first_of("\r\n") == std::string::npos,
            "a header line of a power spectrum must have no line break: pass its lines one by one");
    text += "# " + line + "\n";
  }
  text += "# shot noise " + shortest(spectrum.shot_noise) + " (Mpc/h)^3\n";
  text += "# k [h/Mpc]  P [(Mpc/h)^3]  modes\n";
  for (std::size_t i = 0; i < rows; ++i)
    text += shortest(spectrum.k[i]) + " " + shortest(spectrum.power[i]) + " " +
            shortest(spectrum.modes[i]) + "\n";
  io::write_file(path, text);
}

}  // namespace coir::mesh
