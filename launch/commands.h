// The commands of the program; each is defined in the file of its name.
#pragma once

#include "launch/command.h"

namespace trireme::launch {

CommandFunction define_batch(CLI::App& app);     // batch.cc
CommandFunction define_bench(CLI::App& app);     // bench/bench.cc
CommandFunction define_classify(CLI::App& app);  // encode.cc
CommandFunction define_convert(CLI::App& app);   // convert.cc
CommandFunction define_doctor(CLI::App& app);    // doctor.cc
CommandFunction define_embed(CLI::App& app);     // encode.cc
CommandFunction define_generate(CLI::App& app);  // generate.cc
CommandFunction define_inspect(CLI::App& app);   // inspect.cc
CommandFunction define_score(CLI::App& app);     // score.cc
CommandFunction define_serve(CLI::App& app);     // server/serve.cc
CommandFunction define_tokenize(CLI::App& app);  // tokenize.cc

}  // namespace trireme::launch
