#include "launch/server/thrift/framed_connection.h"

#include <malloc.h>

#include <utility>

namespace trireme::thrift {
namespace {

using boost::system::error_code;

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kReadAheadBytes = 64 << 10;  // while a message is being answered
constexpr std::size_t kLargeBytes = 1 << 20;  // of a message or an answer whose memory the system gets back at once

std::size_t frame_bytes(const std::string& header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) length = length << 8 | static_cast<unsigned char>(header[i]);
  return length;
}

std::string frame_header(std::size_t length) {
  std::string header(kHeaderBytes, '\0');
  for (std::size_t i = 0; i < kHeaderBytes; ++i) header[i] = static_cast<char>(length >> (8 * (kHeaderBytes - 1 - i)));
  return header;
}

// Empties it. The C library would keep tens of megabytes of what was freed, which nothing else here has a use for.
void release(std::string& bytes) {
  const bool is_large = bytes.size() >= kLargeBytes;
  std::string().swap(bytes);  // an assignment would keep its memory
  if (is_large) ::malloc_trim(0);
}

}  // namespace

class FramedConnection::Exchange final : public FrameExchange {
 public:
  Exchange(std::weak_ptr<FramedConnection> connection, ConnectionOwner& owner, std::string message)
      : connection_(std::move(connection)), owner_(owner), message_(std::move(message)) {}
  ~Exchange() override { release(message_); }

  const std::string& message() const override { return message_; }
  void respond(std::string answer) override {
    owner_.post([weak = connection_, answer = std::move(answer)] {
      if (const auto connection = weak.lock()) connection->respond(answer);
    });
  }
  void close() override {
    owner_.post([weak = connection_] {
      if (const auto connection = weak.lock()) connection->close("sends what is no message of this protocol");
    });
  }
  void on_gone(std::function<void()> handler) override {
    const auto connection = connection_.lock();
    if (!connection || connection->closed_) return handler();
    connection->on_gone_ = std::move(handler);
  }

 private:
  const std::weak_ptr<FramedConnection> connection_;
  ConnectionOwner& owner_;
  std::string message_;
};

void FramedConnection::start() {
  deadline_ = Clock::now() + owner_.limits().handshake;
  socket_->async_handshake([self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    if (error) return self->close("does not speak TLS as it should");
    self->wait_for_frame();
    self->read();
  });
}

void FramedConnection::read() {
  if (reading_ || closed_ || (busy_ && input_.size() >= kReadAheadBytes)) return;
  reading_ = true;
  socket_->async_read_some(boost::asio::buffer(chunk_),
                           [self = shared_from_this()](const error_code& error, std::size_t num_bytes) {
                             self->reading_ = false;
                             if (self->closed_) return;
                             if (error) return self->close("");
                             self->input_.append(self->chunk_.data(), num_bytes);
                             if (!self->busy_) self->take_frame();
                             self->read();
                           });
}

void FramedConnection::wait_for_frame() {
  frame_begun_ = !input_.empty();
  deadline_ = Clock::now() + (frame_begun_ ? owner_.limits().frame : owner_.limits().idle);
}

void FramedConnection::take_frame() {
  if (closed_ || input_.empty()) return;
  if (!frame_begun_) wait_for_frame();
  if (input_.size() < kHeaderBytes) return;
  const std::size_t length = frame_bytes(input_);
  if (length == 0 || length > owner_.limits().max_frame_bytes) return close("claims a message that is too long");
  if (input_.size() < kHeaderBytes + length) return;
  std::string rest = input_.substr(kHeaderBytes + length);
  input_.resize(kHeaderBytes + length);
  std::string message = std::exchange(input_, std::move(rest));
  message.erase(0, kHeaderBytes);
  busy_ = true;
  deadline_ = Clock::time_point::max();
  owner_.handle(std::make_shared<Exchange>(weak_from_this(), owner_, std::move(message)));
}

void FramedConnection::respond(const std::string& answer) {
  if (closed_) return;
  on_gone_ = nullptr;
  deadline_ = Clock::now() + owner_.limits().write;
  output_ = frame_header(answer.size()) + answer;
  socket_->async_write(boost::asio::buffer(output_), [self = shared_from_this()](const error_code& error, std::size_t) {
    if (self->closed_) return;
    if (error) return self->close("");
    self->busy_ = false;
    release(self->output_);
    if (self->finishing_) return self->close("");
    self->wait_for_frame();
    self->take_frame();
    self->read();
  });
}

void FramedConnection::check_deadline(Clock::time_point now) {
  if (now >= deadline_) close(busy_ ? "takes its answer too slowly" : frame_begun_ ? "sends too slowly" : "");
}

void FramedConnection::finish() {
  finishing_ = true;
  if (!busy_) close("");
}

void FramedConnection::close(const char* reason) {
  if (std::exchange(closed_, true)) return;
  socket_->close();
  if (const auto gone = std::exchange(on_gone_, nullptr)) gone();
  owner_.closed(id_, reason);
}

}  // namespace trireme::thrift
