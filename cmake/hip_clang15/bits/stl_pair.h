// Stands before libstdc++'s header of this name in the preset 'hip'.
//
// Debian 12's hipcc is clang 15, and that crashes in C++20 on libstdc++ 12's std::pair: its
// assignments carry requires clauses, and clang fails when it works out whether they are for host or
// device. Without library concepts std::pair has the same layout and no such clauses. Every other
// compiler gets the header as it is.
#if defined(__HIP__) && defined(__clang__) && __clang_major__ < 16
#include <bits/move.h>
#include <bits/utility.h>
#include <compare>
#include <type_traits>
#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include_next <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")
#else
#include_next <bits/stl_pair.h>
#endif
