#pragma once

/// \file
/// The whole of the array module.

#include <coir/array/array.hpp>
#include <coir/array/axes.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/calculus.hpp>
#include <coir/array/closeness.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/interpolation.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/nan_reductions.hpp>
#include <coir/array/npy.hpp>
#include <coir/array/numbers.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/padding.hpp>
#include <coir/array/pinned.hpp>
#include <coir/array/print.hpp>
#include <coir/array/queue.hpp>
#include <coir/array/random.hpp>
#include <coir/array/record.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/repeating.hpp>
#include <coir/array/roll.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/slices.hpp>
#include <coir/array/sorting.hpp>
#include <coir/array/statistics.hpp>
#include <coir/array/subarray.hpp>
#include <coir/array/trace.hpp>
#include <coir/array/vmap.hpp>
#include <coir/core/pool.hpp>
