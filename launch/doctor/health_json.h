// A rank's health as JSON, for the way to the other ranks and for --json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launch/doctor/facts.h"

namespace trireme::launch {

nlohmann::ordered_json to_json(const RankHealth& health);
// Throws nlohmann's exceptions where it is not what to_json makes.
RankHealth rank_health_from_json(const nlohmann::ordered_json& object);

}  // namespace trireme::launch
