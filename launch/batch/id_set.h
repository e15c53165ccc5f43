// IdSet: the ids that the input has used so far, as 64-bit hashes: 8 to 16 bytes an id, however long it is. Of ten
// million different ids the chance that any two look alike is 3 in a million.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/batch/batch_line.h"

namespace trireme::launch {

class IdSet {
 public:
  // False if the id was there already. No id is never there.
  bool insert(const RowId& id);

 private:
  bool insert_hash(std::uint64_t hash);
  void grow();

  std::vector<std::uint64_t> slots_;  // open addressing, linear probing; 0: empty
  std::size_t count_ = 0;
};

}  // namespace trireme::launch
