// What an exception that ends a rank says to the user: the cause, and what to change where that is known.
#pragma once

#include <exception>
#include <string>

namespace trireme::launch {

// What failure_text begins with where ranks could not talk to each other.
inline constexpr const char* kCommunicationFailed = "communication failed";

std::string failure_text(const std::exception_ptr& failure);  // not null

}  // namespace trireme::launch
