// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

namespace nsk::tool {

void add_tokenizer(command_line& line) {
  const auto [command, o] = line.add("tokenizer", "Make the .nskt file of a tokenizer, which netsuke/text/ reads",
                                     "  nsk tokenizer tokenizer.json -o words.nskt\n"
                                     "  nsk tokenizer cl100k_base.tiktoken -o words.nskt",
                                     tokenizer);
  line.files
      .reads(command, "source", o.source, "FILE",
             "tokenizer.json, BERT's vocab.txt, SentencePiece's .model, or ranks of tiktoken (.tiktoken)")
      ->required();
  line.files.writes(command, "-o,--output", o.output, "FILE", ".nskt file to write")->required();
  add_value(command, "--pattern", o.pattern, "NAME",
            "Of ranks: gpt2, p50k_base, cl100k_base or o200k_base; by the number of ranks where not given");
  add_quiet(command, o.quiet);
}

void add_tokenize(command_line& line) {
  const auto [command, o] = line.add("tokenize", "Print the ids of each line of standard input, or its text",
                                     "  echo \"open the gate\" | nsk tokenize words.nskt\n"
                                     "  echo \"101 2330 1996 4796 102\" | nsk tokenize words.nskt --decode",
                                     tokenize);
  line.files.reads(command, "words", o.words, "FILE", ".nskt file that nsk tokenizer wrote")->required();
  command->add_flag("--decode", o.decode, "From ids to text");
  command->add_flag("--json", o.json, "Each text is a JSON string, which can hold the end of a line");
  command->add_flag("--plain", o.plain, "Without the ids that the model wants around a text, as [CLS] and [SEP]");
  command->add_flag("--special", o.special, "With --decode: show special tokens");
}

}
