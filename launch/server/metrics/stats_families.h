// ServiceStats as Prometheus' metric families.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "launch/server/core/service_stats.h"

namespace trireme::server {

std::vector<prometheus::MetricFamily> stats_families(const ServiceStats& stats);

}  // namespace trireme::server
