// The dashboard: one page of HTML with its style and script, which reads /metrics. Made of the files of this folder
// when the program is built; needs nothing from outside.
#pragma once

#include <string_view>

namespace trireme::server {

std::string_view dashboard_page();

}  // namespace trireme::server
