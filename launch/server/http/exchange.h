// Exchange: one HTTP request and the way back to its client. Handlers know nothing else of the network.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trireme::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method, path;                 // the path without its query
  std::string authorization, content_type;  // of the headers of these names; empty: none
  std::string request_id;                   // X-Request-Id, if it is short and printable; else one of the server's
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers;
};

// A response is either one respond(), or start_stream(), any number of write(), end_stream(). All functions but post()
// belong to the thread of the connections; what comes after the client is gone has no effect.
class Exchange {
 public:
  virtual ~Exchange() = default;

  const HttpRequest& request() const { return request_; }
  const std::string& tenant() const { return tenant_; }
  void set_tenant(std::string tenant) { tenant_ = std::move(tenant); }

  virtual void respond(HttpResponse response) = 0;
  virtual void start_stream(const std::string& content_type) = 0;
  // `done` is called when the client has taken it, unless it is gone first. One write at a time.
  virtual void write(std::string part, std::function<void()> done) = 0;
  virtual void end_stream() = 0;

  // `handler` is called once if the client goes away before the response is complete.
  virtual void on_gone(std::function<void()> handler) = 0;
  // Ends the connection without more.
  virtual void drop() = 0;
  // Any thread: runs `task` on the thread of the connections, also when the client is gone.
  virtual void post(std::function<void()> task) = 0;

 protected:
  explicit Exchange(HttpRequest request) : request_(std::move(request)) {}

 private:
  HttpRequest request_;
  std::string tenant_;
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace trireme::http
