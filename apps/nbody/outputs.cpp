#include "outputs.hpp"

namespace coir::apps::nbody {

std::string spectrum_text(mesh::PowerSpectrum const& spectrum,
                          cosmology::LinearPower<double> const& power, double a,
                          Settings const& settings) {
  std::string text = "# Power spectrum of " + std::to_string(settings.particles) +
                     "^3 particles in " + exact_text(settings.box) +
                     " Mpc/h at a = " + exact_text(a) + "\n# shot noise " +
                     exact_text(spectrum.shot_noise) +
                     " (Mpc/h)^3, not subtracted\n# k [h/Mpc]  P [(Mpc/h)^3]  modes  "
                     "linear theory's P [(Mpc/h)^3]\n";
  for (std::size_t n = 0; n < spectrum.k.size(); ++n) {
    double const k = spectrum.k[n];
    double const linear =
        power.covers(k, k) ? power(k, a) : std::numeric_limits<double>::quiet_NaN();
    text += exact_text(k) + " " + exact_text(spectrum.power[n]) + " " +
            exact_text(spectrum.modes[n]) + " " + exact_text(linear) + "\n";
  }
  return text;
}

}  // namespace coir::apps::nbody
