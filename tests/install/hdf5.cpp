// A user's program that writes a file and reads it, and has nothing of HDF5 in it.
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

#include <cstdio>
#include <vector>

int main() {
  char const* const path = "consumer.hdf5";
  coir::hdf5::Writer writer(path);
  writer.write("numbers", std::vector<double>{1, 2, 3});
  writer.commit();
  std::vector<double> const numbers = coir::hdf5::Reader(path).read<double>("numbers");
  std::printf("%zu numbers came back\n", numbers.size());
  return numbers == std::vector<double>{1, 2, 3} ? 0 : 1;
}
