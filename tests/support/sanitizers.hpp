#pragma once

/// Whether a program is built with the address sanitizer, which takes memory and address space of
/// its own.

namespace coir::testing {

inline constexpr bool is_sanitized =
#if defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

}  // namespace coir::testing
