#include "outputs.hpp"

namespace coir::apps::nbody {

mesh::PowerSpectrumOptions spectrum_options(Settings const& settings) {
  mesh::PowerSpectrumOptions options;
  options.assignment = mesh::Assignment::pcs;
  options.interlace = true;
  options.bins = settings.bins;
  options.logarithmic = settings.logarithmic_bins;
  options.k_min = settings.k_min;
  options.k_max = settings.k_max;
  return options;
}

std::string multipoles_text(mesh::PowerMultipoles const& multipoles, std::string const& what) {
  std::string text = "# Power spectrum in redshift space, seen along the third axis, of " + what +
                     "\n# shot noise " + exact_text(multipoles.shot_noise) +
                     " (Mpc/h)^3, not subtracted\n"
                     "# k [h/Mpc]  P_0 [(Mpc/h)^3]  P_2  P_4  modes\n";
  for (std::size_t n = 0; n < multipoles.k.size(); ++n)
    text += exact_text(multipoles.k[n]) + " " + exact_text(multipoles.monopole[n]) + " " +
            exact_text(multipoles.quadrupole[n]) + " " + exact_text(multipoles.hexadecapole[n]) +
            " " + exact_text(multipoles.modes[n]) + "\n";
  return text;
}

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
