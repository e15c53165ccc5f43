// What an exception that ends a rank says to the user: the cause, and what to change where that is known.
#pragma once

#include <exception>
#include <string>

namespace trireme::launch {

std::string failure_text(const std::exception_ptr& failure);  // not null

}  // namespace trireme::launch
