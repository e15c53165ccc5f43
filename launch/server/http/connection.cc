#include "launch/server/http/connection.h"

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "launch/server/http/error_body.h"

namespace trireme::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kBodyReadBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxPipelinedBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxRequestIdBytes = 128;

enum class State : std::uint8_t {
  kIdle,    // between requests
  kHeader,  // a request has begun
  kBody,    // its header is there
  kBusy,    // its response is awaited or being written
  kLinger,  // all is written; waits for the client to close, so that it can read the answer first
  kClosed,
};

int status_of(const error_code& error) {
  using E = beast::http::error;
  if (error == E::header_limit) return 431;
  if (error == E::body_limit) return 413;
  return 400;
}

bool is_plain_id(std::string_view id) {
  if (id.empty() || id.size() > kMaxRequestIdBytes) return false;
  for (const char c : id) {
    if (std::isgraph(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

std::string to_string(beast::string_view text) {
  return std::string(text.data(), text.size());
}

class Client;

// The exchange outlives its connection if a handler still holds it.
class ClientExchange final : public Exchange {
 public:
  ClientExchange(HttpRequest request, std::weak_ptr<Client> client, ConnectionOwner& owner)
      : Exchange(std::move(request)), client_(std::move(client)), owner_(owner) {}

  void respond(HttpResponse response) override;
  void start_stream(const std::string& content_type) override;
  void write(std::string part, std::function<void()> done) override;
  void end_stream() override;
  void on_gone(std::function<void()> handler) override;
  void drop() override;
  void post(std::function<void()> task) override { owner_.post(std::move(task)); }

 private:
  std::weak_ptr<Client> client_;
  ConnectionOwner& owner_;
};

class Client final : public Connection {
 public:
  Client(std::uint64_t id, std::unique_ptr<network::Socket> socket, ConnectionOwner& owner)
      : id_(id), socket_(std::move(socket)), owner_(owner), buffer_(kMaxPipelinedBytes + kBodyReadBytes) {}

  void start() override {
    set_deadline(owner_.limits().header);
    socket_->async_handshake([self = self()](const error_code& error) {
      if (error) return self->close();
      self->wait_for_request();
      self->read();
    });
  }

  void check_deadline(Clock::time_point now) override {
    if (now < deadline_) return;
    switch (state_) {
      case State::kHeader: return fail(408, "the header of the request did not come in time");
      case State::kBody: return fail(408, "the body of the request did not come in time");
      case State::kBusy: owner_.dropped("a client does not take what is written to it"); return close();
      case State::kIdle:
      case State::kLinger: return close();
      case State::kClosed: return;
    }
  }

  void finish() override {
    keep_alive_ = false;
    if (state_ == State::kIdle || state_ == State::kHeader || state_ == State::kBody) close();
  }

  void close() override {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    socket_->close();
    call_gone();
    owner_.closed(id_);
  }

  // ---- what an exchange does
  void respond(const HttpResponse& response) {
    if (state_ != State::kBusy || streaming_) return;
    send_response(response,
                  response.status == 200 || response.status == 400 || response.status == 404 || response.status == 429);
  }

  void start_stream(const std::string& content_type) {
    if (state_ != State::kBusy || streaming_) return;
    streaming_ = true;
    chunked_ = http_1_1_;
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: " + content_type +
                       "\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\nX-Request-Id: " + request_id_ + "\r\n";
    if (!chunked_) keep_alive_ = false;
    head += chunked_ ? "Transfer-Encoding: chunked\r\n" : "";
    head += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
    pending_ = std::move(head);  // goes out with the first part
  }

  void write_part(std::string part, std::function<void()> done) {
    if (state_ != State::kBusy || !streaming_) return;
    if (chunked_) {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", part.size());
      part = size + part + "\r\n";
    }
    send(std::exchange(pending_, {}) + part, std::move(done));
  }

  void end_stream() {
    if (state_ != State::kBusy || !streaming_) return;
    send(std::exchange(pending_, {}) + (chunked_ ? "0\r\n\r\n" : ""), [self = self()] { self->response_done(); });
  }

  void set_gone_handler(std::function<void()> handler) {
    if (state_ == State::kClosed) return handler();
    gone_ = std::move(handler);
  }

 private:
  std::shared_ptr<Client> self() { return std::static_pointer_cast<Client>(shared_from_this()); }
  void set_deadline(std::chrono::milliseconds limit) { deadline_ = Clock::now() + limit; }
  void no_deadline() { deadline_ = Clock::time_point::max(); }

  void wait_for_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(owner_.limits().max_header_bytes));
    parser_->body_limit(owner_.limits().max_body_bytes);
    parser_->eager(false);
    state_ = State::kIdle;
    set_deadline(owner_.limits().idle);
  }

  void read() {
    if (state_ == State::kClosed || reading_) return;
    if (state_ == State::kBusy && buffer_.size() >= kMaxPipelinedBytes) return;  // goes on after the response
    reading_ = true;
    const auto space = buffer_.prepare(state_ == State::kBody ? kBodyReadBytes : kReadBytes);
    socket_->async_read_some(space, [self = self()](const error_code& error, std::size_t bytes) {
      self->reading_ = false;
      if (error) return self->close();
      self->take(bytes);
    });
  }

  void take(std::size_t bytes) {
    if (state_ == State::kLinger) {
      buffer_.clear();
      return read();
    }
    buffer_.commit(bytes);
    parse();
    read();
  }

  void parse() {
    if (state_ == State::kIdle && buffer_.size() > 0) {
      state_ = State::kHeader;
      set_deadline(owner_.limits().header);
    }
    while ((state_ == State::kHeader || state_ == State::kBody) && buffer_.size() > 0) {
      error_code error;
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error == beast::http::error::need_more) {
        if (used == 0) return;
        continue;
      }
      if (error) return fail(status_of(error), "not a valid HTTP request: " + error.message());
      if (state_ == State::kHeader && parser_->is_header_done() && !take_header()) return;
      if (parser_->is_done()) return dispatch();
    }
  }

  // False if the request is refused already.
  bool take_header() {
    state_ = State::kBody;
    set_deadline(owner_.limits().body);
    parser_->eager(true);
    const auto& message = parser_->get();
    keep_alive_ = keep_alive_ && message.keep_alive();
    http_1_1_ = message.version() == 11;
    request_.method = to_string(message.method_string());
    const std::string target = to_string(message.target());
    request_.path = target.substr(0, target.find('?'));
    request_.authorization = to_string(message[beast::http::field::authorization]);
    request_.content_type = to_string(message[beast::http::field::content_type]);
    const std::string id = to_string(message["X-Request-Id"]);
    request_.request_id = is_plain_id(id) ? id : owner_.new_request_id();
    request_id_ = request_.request_id;
    if (message.count(beast::http::field::content_encoding) > 0) {
      fail(415, "a Content-Encoding is not supported");
      return false;
    }
    if (auto refusal = owner_.refuse_early(request_)) {
      refuse(*refusal);
      return false;
    }
    // The client waits to be told to go on; what is left of the request follows.
    const beast::string_view expect = message[beast::http::field::expect];
    if (!expect.empty()) {
      if (!beast::iequals(expect, "100-continue")) {
        fail(417, "unknown expectation");
        return false;
      }
      send("HTTP/1.1 100 Continue\r\n\r\n", {});
    }
    return true;
  }

  void dispatch() {
    state_ = State::kBusy;
    streaming_ = false;
    no_deadline();
    request_.body = std::move(parser_->get().body());
    owner_.handle(std::make_shared<ClientExchange>(std::exchange(request_, {}), self(), owner_));
  }

  // The connection cannot go on: what follows in it has no meaning any more.
  void fail(int status, const std::string& message) { refuse(error_response(status, message)); }
  void refuse(const HttpResponse& response) {
    state_ = State::kBusy;
    keep_alive_ = false;
    if (request_id_.empty()) request_id_ = owner_.new_request_id();
    send_response(response, false);
  }

  void send_response(const HttpResponse& response, bool may_keep_alive) {
    keep_alive_ = keep_alive_ && may_keep_alive;
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " + reason_phrase(response.status) +
                       "\r\nContent-Type: " + response.content_type +
                       "\r\nContent-Length: " + std::to_string(response.body.size()) +
                       "\r\nX-Request-Id: " + request_id_ + "\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    if (!keep_alive_) text += "Connection: close\r\n";
    text += "\r\n" + response.body;
    send(std::move(text), [self = self()] { self->response_done(); });
  }

  void send(std::string text, std::function<void()> done) {
    outgoing_.push_back({std::move(text), std::move(done)});
    if (outgoing_.size() == 1) write_next();
  }

  void write_next() {
    set_deadline(owner_.limits().write);
    const std::string& text = outgoing_.front().text;
    socket_->async_write(asio::buffer(text), [self = self()](const error_code& error, std::size_t) {
      if (error || self->state_ == State::kClosed) return self->close();
      if (self->state_ == State::kBusy) self->no_deadline();
      const std::function<void()> done = std::move(self->outgoing_.front().done);
      self->outgoing_.pop_front();
      if (!self->outgoing_.empty()) self->write_next();
      if (done) done();
    });
  }

  void response_done() {
    gone_ = {};
    streaming_ = false;
    request_id_.clear();
    if (state_ != State::kBusy) return;
    if (keep_alive_) {
      wait_for_request();
      parse();  // what came meanwhile
      return read();
    }
    state_ = State::kLinger;
    set_deadline(std::chrono::seconds(2));
    socket_->shutdown_send();
    read();
  }

  void call_gone() {
    if (const auto gone = std::exchange(gone_, {})) gone();
  }

  struct Outgoing {
    std::string text;
    std::function<void()> done;
  };

  const std::uint64_t id_;
  const std::unique_ptr<network::Socket> socket_;
  ConnectionOwner& owner_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  std::string request_id_;
  State state_ = State::kIdle;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool reading_ = false, keep_alive_ = true, http_1_1_ = true, streaming_ = false, chunked_ = false;
  std::string pending_;
  std::deque<Outgoing> outgoing_;
  std::function<void()> gone_;
};

void ClientExchange::respond(HttpResponse response) {
  if (const auto client = client_.lock()) client->respond(response);
}
void ClientExchange::start_stream(const std::string& content_type) {
  if (const auto client = client_.lock()) client->start_stream(content_type);
}
void ClientExchange::write(std::string part, std::function<void()> done) {
  if (const auto client = client_.lock()) client->write_part(std::move(part), std::move(done));
}
void ClientExchange::end_stream() {
  if (const auto client = client_.lock()) client->end_stream();
}
void ClientExchange::on_gone(std::function<void()> handler) {
  const auto client = client_.lock();
  if (!client) return handler();
  client->set_gone_handler(std::move(handler));
}
void ClientExchange::drop() {
  if (const auto client = client_.lock()) client->close();
}

}  // namespace

std::shared_ptr<Connection> Connection::make(std::uint64_t id, std::unique_ptr<network::Socket> socket,
                                             ConnectionOwner& owner) {
  return std::make_shared<Client>(id, std::move(socket), owner);
}

}  // namespace trireme::http
