// The Thrift interface of `trireme serve`: framed transport, compact protocol, port 9190.
//
// Field ids are never used again, new fields are optional, and a method that changes gets a new name. An `api_key` is
// looked at only where the server was started with keys; then it also says whose requests and dialogues are meant.
namespace cpp trireme.api
namespace py trireme_api

// ---- Every server (in the shape of fb303, without what would let a stranger change or end it)

enum Status {
  DEAD = 0,
  STARTING = 1,  // the model is being loaded
  ALIVE = 2,
  STOPPING = 3,  // what runs may end, nothing new is taken
  STOPPED = 4,
  WARNING = 5,
}

service BaseService {
  string getName(),
  string getVersion(),
  Status getStatus(),
  string getStatusDetails(),
  map<string, i64> getCounters(),
  i64 getCounter(1: string key),  // 0 if there is none of this name
  i64 aliveSince(),               // seconds since 1970
}

// ---- What can go wrong

exception InvalidRequest {  // sending it again makes no difference
  1: string message,
  2: string field,  // the field that is to blame; empty: the whole
}

exception Unauthorized {
  1: string message,
}

exception NotFound {  // no such model, request or dialogue, or it is somebody else's
  1: string message,
}

exception Overloaded {  // refused at once; nothing was done
  1: string message,
  2: i32 retry_after_ms,
}

exception Unavailable {  // the model is being loaded, or the server is shutting down
  1: string message,
  2: i32 retry_after_ms,
}

enum AbortReason {
  CANCELLED = 0,   // by the client, or its dialogue has ended
  DEADLINE = 1,    // the time limit of the request has passed
  TOO_SLOW = 2,    // output lay unread until its buffer was full
  NON_FINITE = 3,  // the model's logits are not finite for this prompt
}

exception Aborted {  // a request that had been taken did not get to its end
  1: string message,
  2: AbortReason reason,
}

// ---- Requests

struct ChatMessage {
  1: string role,
  2: string content,
}

union Prompt {
  1: string text,  // special tokens in it are recognised
  2: list<i32> tokens,
  3: list<ChatMessage> messages,  // for the model's chat template
}

// What is left out is off; without a temperature, decoding is greedy.
struct SamplingParams {
  1: optional double temperature,
  2: optional i32 top_k,
  3: optional double top_p,
  4: optional double min_p,
  5: optional double repetition_penalty,
  6: optional double presence_penalty,
  7: optional double frequency_penalty,
  8: optional map<i32, double> logit_bias,
  9: optional i64 seed,       // left out: another one every time
  10: optional i32 logprobs,  // of each token and of so many of the most likely ones
}

struct GenerateRequest {
  1: Prompt prompt,
  2: optional SamplingParams sampling,
  3: optional i32 max_tokens,  // left out: until the model's context is full
  4: optional i32 min_tokens,
  5: optional i32 num_choices,
  6: optional list<string> stop,
  7: optional list<i32> stop_token_ids,
  8: optional bool ignore_eos,
  9: optional i32 priority,  // higher first
  10: optional i32 time_limit_ms,
  11: optional string dialogue,            // of beginDialogue()
  12: optional string model,               // a name of listModels(), an adapter's too; left out: the one there is
  13: optional string template_variables,  // JSON object for the chat template
}

// ---- Answers

enum FinishReason {
  NONE = 0,
  STOP = 1,    // a stop token or stop string
  LENGTH = 2,  // max_tokens, or the context is full
}

struct TokenLogprob {
  1: i32 token,
  2: double logprob,
}

struct Token {
  1: i32 id,
  2: optional double logprob,
  3: optional list<TokenLogprob> top,  // most likely first
}

struct Usage {
  1: i32 prompt_tokens,
  2: i32 output_tokens,         // over all choices
  3: i32 cached_prompt_tokens,  // of the prompt, computed for an earlier request
}

struct Choice {
  1: string text,
  2: list<Token> tokens,
  3: FinishReason finish_reason,
}

struct GenerateResponse {
  1: list<Choice> choices,
  2: Usage usage,
}

// A piece of one choice's output. Those of a choice come in order; the last one has a finish_reason.
struct Piece {
  1: i32 choice,
  2: string text,
  3: optional Token token,
  4: FinishReason finish_reason,
}

struct PollResponse {
  1: list<Piece> pieces,  // numbered from `from_seq` of the call
  2: i64 next_seq,        // ask for this one next
  3: bool finished,       // nothing comes after `pieces`
  4: optional Usage usage,  // once finished
}

struct Scores {
  1: list<i32> tokens,
  2: list<double> logprobs,  // of tokens[1], tokens[2], …, each given those before it
}

struct ModelInfo {
  1: string name,
  2: i64 created,  // seconds since 1970
  3: i32 max_context,
  4: i32 vocab_size,
}

// ---- The service

service Inference extends BaseService {
  // Answers when all is done. Closing the connection cancels it.
  GenerateResponse generate(1: GenerateRequest request, 2: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 3: NotFound not_found, 4: Overloaded overloaded,
            5: Unavailable unavailable, 6: Aborted aborted),

  // Streaming: submit, then poll until `finished`. A request that nobody polls for a while is cancelled.
  string submit(1: GenerateRequest request, 2: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 3: NotFound not_found, 4: Overloaded overloaded,
            5: Unavailable unavailable),
  // Pieces from number `from_seq` on, as soon as there is one, or none after `wait_ms`. Those before it are forgotten;
  // the same call again gives the same pieces. Of two calls that wait for one request the earlier one gets none.
  PollResponse poll(1: string id, 2: i64 from_seq, 3: i32 wait_ms, 4: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 3: NotFound not_found, 5: Unavailable unavailable,
            6: Aborted aborted),
  // Ends and forgets it, also one that has finished.
  void cancel(1: string id, 2: string api_key)
    throws (2: Unauthorized unauthorized, 3: NotFound not_found, 5: Unavailable unavailable),

  list<i32> tokenize(1: Prompt prompt, 2: bool add_special, 3: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 5: Unavailable unavailable),
  // Bytes, since a sequence of tokens can end within a character.
  binary detokenize(1: list<i32> tokens, 2: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 5: Unavailable unavailable),
  Scores scoreTokens(1: Prompt prompt, 2: string api_key)
    throws (1: InvalidRequest invalid, 2: Unauthorized unauthorized, 3: NotFound not_found, 4: Overloaded overloaded,
            5: Unavailable unavailable, 6: Aborted aborted),

  // A dialogue keeps what was computed for its turns, as far as there is room, until it ends or has been idle too long.
  string beginDialogue(1: string api_key)
    throws (2: Unauthorized unauthorized, 4: Overloaded overloaded, 5: Unavailable unavailable),
  // Frees its memory at once, and ends requests of it that still run.
  void endDialogue(1: string dialogue, 2: string api_key)
    throws (2: Unauthorized unauthorized, 3: NotFound not_found, 5: Unavailable unavailable),

  list<ModelInfo> listModels(1: string api_key)
    throws (2: Unauthorized unauthorized, 5: Unavailable unavailable),
}
