// Agreement at start-up: ranks tell each other what they have and whether they failed, so that all go on or all end
// together, with one message. Collective over all ranks.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "parallel/communicator.h"

namespace trireme::engine {

// The same Status on every rank: ok where all are; else the errors, equal ones merged: "ranks 0-3: …".
base::Status agree(parallel::Communicator& communicator, const base::Status& mine);

// Runs one rank's part of the start-up; an exception (out of memory, a failing file) becomes an Error.
base::Status attempt(const std::function<base::Status()>& part);

// Every rank's facts, by rank.
template <typename Facts>
std::vector<Facts> gather(parallel::Communicator& communicator, const Facts& mine) {
  static_assert(std::is_trivially_copyable_v<Facts>);
  const auto all = communicator.all_gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Facts> facts(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    TRIREME_CHECK(all[rank].size() == sizeof(Facts)) << "ranks of different versions";
    std::memcpy(&facts[rank], all[rank].data(), sizeof(Facts));
  }
  return facts;
}

}  // namespace trireme::engine
