// The settings of the server section: entries of config_table(), in a file of their own.
#pragma once

#include <vector>

#include "runtime/config/config_table.h"

namespace trireme::config {

std::vector<Setting> server_address_settings();  // where, under which names, and for whom
std::vector<Setting> server_limit_settings();    // what one client may take
std::vector<Setting> server_memory_settings();   // what is kept for later

}  // namespace trireme::config
