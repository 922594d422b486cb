#pragma once

/// Files that NumPy 2.4.6 wrote, byte for byte; the comment before each is the Python that wrote it
/// to f.

#include <string>

namespace coir::testing::numpy {

// np.save(f, np.array([[0.5, 1, -2], [3, 4, 5]], "<f4"))
inline std::string const float32_c(
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     "
    "                                                     \n\x00\x00\x00?\x00\x00\x80?\x00"
    "\x00\x00\xc0\x00\x00@@\x00\x00\x80@\x00\x00\xa0@",
    152);

// np.save(f, np.asfortranarray([[1.5, 2, 3], [4, 5, 6]]))
inline std::string const float64_fortran(
    "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }      "
    "                                                     \n\x00\x00\x00\x00\x00\x00\xf8?"
    "\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x14"
    "@\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x18@",
    176);

// np.save(f, np.array([1, -0.1, 1e300], ">f8"))
inline std::string const float64_big_endian(
    "\x93NUMPY\x01\x00v\x00{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }       "
    "                                                     \n?\xf0\x00\x00\x00\x00\x00\x00"
    "\xbf\xb9\x99\x99\x99\x99\x99\x9a~7\xe4<\x88\x00u\x9c",
    152);

// np.save(f, np.asfortranarray(np.arange(-3, 3, dtype=">i2").reshape(2, 3)))
inline std::string const int16_big_endian_fortran(
    "\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }      "
    "                                                     \n\xff\xfd\x00\x00\xff\xfe\x00"
    "\x01\xff\xff\x00\x02",
    140);

// np.save(f, np.array([True, False, True]))
inline std::string const booleans(
    "\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }       "
    "                                                     \n\x01\x00\x01",
    131);

// np.save(f, np.array(42))
inline std::string const scalar(
    "\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (), }         "
    "                                                     \n*\x00\x00\x00\x00\x00\x00\x00",
    136);

// np.save(f, np.array([2**64 - 1], "u8"))
inline std::string const uint64(
    "\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }       "
    "                                                     \n\xff\xff\xff\xff\xff\xff\xff"
    "\xff",
    136);

// np.save(f, np.zeros((0, 3), "f4"))
inline std::string const empty(
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }     "
    "                                                     \n",
    128);

// np.save(f, np.asfortranarray(np.arange(24, dtype="i1").reshape(2, 3, 4)))
inline std::string const rank_3_fortran(
    "\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 4), }   "
    "                                                     \n\x00\x0c\x04\x10\x08\x14\x01"
    "\x0d\x05\x11\x09\x15\x02\x0e\x06\x12\n\x16\x03\x0f\x07\x13\x0b\x17",
    152);

// np.lib.format.write_array(f, np.array([7, 8], "<i4"), (2, 0))
inline std::string const version_2(
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2,), "
    "}                                                          \n\x07\x00\x00\x00\x08\x00"
    "\x00\x00",
    136);

// np.lib.format.write_array(f, np.array([7, 8], "<u2"), (3, 0))
inline std::string const version_3(
    "\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2,), "
    "}                                                          \n\x07\x00\x08\x00",
    132);

// np.save(f, np.zeros(2, "f2"))
inline std::string const float16(
    "\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }       "
    "                                                     \n\x00\x00\x00\x00",
    132);

// np.save(f, np.zeros(2, "c8"))
inline std::string const complex64(
    "\x93NUMPY\x01\x00v\x00{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }       "
    "                                                     \n\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    144);

// np.save(f, np.asfortranarray(np.array([[1+2j, 3], [-0.1j, 4]], ">c16")))
inline std::string const complex128_fortran(
    "\x93NUMPY\x01\x00v\x00{'descr': '>c16', 'fortran_order': True, 'shape': (2, 2), }    "
    "                                                      \n?\xf0\x00\x00\x00\x00\x00\x00"
    "@\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\xbf\xb9\x99\x99\x99\x99"
    "\x99\x9a@\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00@\x10\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    192);

// np.save(f, np.zeros(1, [("a", "f4"), ("b", "i4")]))
inline std::string const structured(
    "\x93NUMPY\x01\x00v\x00{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, "
    "'shape': (1,), }                                     \n\x00\x00\x00\x00\x00\x00\x00"
    "\x00",
    136);

// np.save(f, np.array(["ab"]))
inline std::string const text(
    "\x93NUMPY\x01\x00v\x00{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }       "
    "                                                     \na\x00\x00\x00"
    "b\x00\x00\x00",
    136);

// np.save(f, np.array([None]), allow_pickle=True)
inline std::string const objects(
    "\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }        "
    "                                                     \n\x80\x04\x95\x8a\x00\x00\x00"
    "\x00\x00\x00\x00\x8c\x16numpy._core.multiarray\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c"
    "\x05numpy\x94\x8c\x07ndarray\x94\x93\x94K\x00\x85\x94"
    "C\x01"
    "b\x94\x87\x94R\x94(K"
    "\x01K\x01\x85\x94h\x03\x8c\x05"
    "dtype\x94\x93\x94\x8c\x02O8\x94\x89\x88\x87\x94R\x94("
    "K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t\x94"
    "b\x89]\x94Nat\x94"
    "b"
    ".",
    277);

}  // namespace coir::testing::numpy
