// Writes each reader's seeds to a folder of its own, for libFuzzer to start from: fuzz_seeds FOLDER

#include <coir/io/atomic_file.hpp>

#include "readers.hpp"

#include <filesystem>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_seeds FOLDER\n";
    return 2;
  }
  for (auto const& reader : coir::testing::readers()) {
    std::filesystem::path const folder = std::filesystem::path(argv[1]) / reader.name;
    std::filesystem::create_directories(folder);
    int count = 0;
    for (auto const& seed : reader.seeds)
      coir::io::write_file(folder / ("seed-" + std::to_string(count++)), seed);
  }
}
