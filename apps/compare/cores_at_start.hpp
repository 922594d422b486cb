#pragma once

namespace coir::apps::compare {

/// Lets the calling process run on the cores that this program was started on.
///
/// OpenMP's runtime binds the thread that loads it to one core if OMP_PROC_BIND is set, and what is started inherits that.
/// May be called between fork() and exec().
void return_to_cores_at_start();

}  // namespace coir::apps::compare
