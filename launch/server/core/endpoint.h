// Endpoint: a network front end on threads of its own. It listens before the model is loaded, so that a port in use is
// found early and probes get an answer; then it is given the service.
#pragma once

#include "launch/server/core/request_service.h"
#include "launch/server/core/served_model.h"

namespace trireme::server {

// What requests are given to, once the model is loaded.
struct Served {
  RequestService* service = nullptr;
  const ServedModel* model = nullptr;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // From now on requests are served. Both outlive the call of stop().
  virtual void serve(RequestService& service, const ServedModel& model) = 0;
  // Ends all connections and threads; every ActiveRequest is gone when it returns.
  virtual void stop() = 0;
};

}  // namespace trireme::server
