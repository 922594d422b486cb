#pragma once

#include "tables.hpp"

#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/parameters.hpp>

#include <support/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace coir::apps::cells {

/// Where galaxies of some bins are: Gaussians, or the n(z) of a file.
struct BinsSettings {
  std::vector<double> z, width;  ///< of the Gaussians
  std::filesystem::path file{};
  RedshiftTable table{};  ///< what the file has

  std::size_t count() const { return file.empty() ? z.size() : table.n.size(); }
};

/// Bins of galaxies along a list. Lists have a number for each bin.
struct CountsSettings {
  BinsSettings bins;
  std::vector<double> bias, density;
};
struct ShapesSettings {
  BinsSettings bins;
  std::vector<double> m, shift, density;
  double sigma_e = 0.27;
  double alignment = 0.5, eta = 0;
};

enum class Sampler { nuts, chees };

/// What the options say. The defaults are made up: a survey of about the size of the first year of
/// the Dark Energy Survey.
struct CellsSettings {
  cosmology::Parameters<> universe{
      .omega_m = 0.3, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8};
  cosmology::AngularPowerOptions power;

  CountsSettings counts{.bins = {.z = {0.225, 0.375, 0.525, 0.675, 0.825}, .width = {0.05}},
                        .bias = {1.45, 1.55, 1.65, 1.8, 2.0},
                        .density = {0.013, 0.034, 0.051, 0.03, 0.009}};
  ShapesSettings shapes{.bins = {.z = {0.39, 0.6, 0.75, 0.95}, .width = {0.15}},
                        .m = {0.012},
                        .shift = {0},
                        .density = {1.5, 1.5, 1.6, 0.8}};

  double l_min = 20, l_max = 3000, f_sky = 0.032;
  int bins = 50;

  std::filesystem::path data;  ///< spectra that were measured; empty: those of the parameters

  std::vector<std::string> free;  ///< parameters to vary; empty: all there are but omega_k and wa
  std::map<std::string, double> priors;  ///< widths of Gaussian ones

  std::int64_t chains = 0, warmup = 500, draws = 1000, seed = 1;  ///< no chains: the forecast alone

  Sampler sampler = Sampler::nuts;
  std::filesystem::path
      restart;  ///< the output of an earlier run, whose chains this one goes on with

  std::filesystem::path output = "cells";
  std::filesystem::path report;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

}  // namespace coir::apps::cells
