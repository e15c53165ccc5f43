#include "launch/failure_text.h"

#include <new>

#include "parallel/error.h"

namespace trireme::launch {

std::string failure_text(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "out of memory; lower --kv-memory or --max-context, or use more ranks";
  } catch (const parallel::ParallelError& error) {
    return std::string(kCommunicationFailed) + ": " + error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace trireme::launch
