#pragma once

/// \file
/// Histograms and quantiles, by NumPy's rules.

#include <coir/array/histogram.hpp>
#include <coir/array/quantile.hpp>
