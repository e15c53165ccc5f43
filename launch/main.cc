// The program: a table of commands. Help, the version and mistakes on the command line are answered before MPI starts.
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <variant>

#include "launch/command_line.h"
#include "launch/commands.h"
#include "launch/environment.h"
#include "launch/exit_codes.h"
#include "launch/rank_main.h"

int main(int argc, char** argv) {
  using namespace trireme::launch;
  const std::array commands = {
      Command{"generate", "continue a prompt, or chat", define_generate},
      Command{"batch", "answer a file of prompts; goes on where it was interrupted", define_batch,
              Signals::kForCommand},
      Command{"classify", "labels of texts, by an encoder with such a head", define_classify},
      Command{"embed", "embeddings of texts, by an encoder", define_embed},
      Command{"score", "perplexity of a text", define_score},
      Command{"serve", "answer requests over the network", define_serve, Signals::kForCommand},
      Command{"tokenize", "text to token ids, and back", define_tokenize},
      Command{"bench", "how fast this pipeline is, next to what the machine can do", define_bench},
      Command{"convert", "pack a model's weights once, into one HDF5 file", define_convert, Signals::kForCommand},
      Command{"doctor", "what would go wrong on these ranks and hosts, before it does", define_doctor},
      Command{"inspect", "what a model is made of, without loading its weights", define_inspect},
  };
  const auto parsed = parse_command_line(commands, std::span(argv, static_cast<std::size_t>(argc)));
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    if (rank_from_launcher() != 0) return kSuccess;  // rank 0 speaks, and its exit code is the job's
    std::cout << answer->output << std::flush;
    std::cerr << answer->error;
    return answer->exit_code;
  }
  return rank_main(std::get<CommandLine>(parsed), argc, argv);
}
