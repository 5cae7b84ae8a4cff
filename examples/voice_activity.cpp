// SPDX-License-Identifier: MIT
// Finds speech in a WAV file with Silero VAD, chunk by chunk as a game hears a microphone, and draws its probability.
//   voice_activity MODEL.nsk SPEECH.wav [-o OUT.svg] [--threshold 0.5]
// examples/models/fetch_silero_vad.sh fetches the model and says how to convert it: what it remembers between chunks is
// a state of the session.
#include <algorithm>
#include <netsuke/all_ops.hpp>
#include <netsuke/netsuke.hpp>
#include "support/timing.hpp"
#include "support/wave.hpp"

using namespace example;

constexpr int k_rate = 16000;
constexpr int k_context = 64;  ///< samples of the chunk before that the network hears again

/// A stretch of speech, in seconds.
struct stretch {
  double begin, end;
};

/// Speech begins where the probability reaches the threshold, and ends where it has stayed 0.15 below it for `patience`
/// chunks.
static std::vector<stretch> stretches_of(const std::vector<float>& probability, double chunk_seconds, float threshold) {
  constexpr int patience = 4;
  std::vector<stretch> found;
  int quiet = patience;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double now = static_cast<double>(i) * chunk_seconds;
    if (probability[i] >= threshold) {
      if (quiet >= patience) found.push_back({now, now});
      quiet = 0;
    } else if (probability[i] < threshold - 0.15F) {
      ++quiet;
    }
    if (quiet < patience && !found.empty()) found.back().end = now + chunk_seconds;
  }
  return found;
}

/// Writes an SVG: the waveform in grey, stretches of speech behind it, the probability over it.
static void draw(const std::string& path, const sound& s, const std::vector<float>& probability,
                 const std::vector<stretch>& speech, double chunk_seconds) {
  constexpr double width = 1200, height = 240, middle = height / 2;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) fail("cannot write " + path);
  const double seconds = static_cast<double>(s.samples.size()) / s.rate, scale = width / seconds;
  std::fprintf(file,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
               "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fbfbf8\"/>\n",
               width, height + 24, width, height + 24);
  for (const stretch& part : speech)
    std::fprintf(file, "<rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.0f\" fill=\"#d9ead3\"/>\n",
                 part.begin * scale, (part.end - part.begin) * scale, height);
  std::fprintf(file, "<path fill=\"#8a8f98\" d=\"");
  const auto columns = static_cast<std::size_t>(width);
  for (std::size_t x = 0; x < columns; ++x) {
    const std::size_t begin = x * s.samples.size() / columns, end = (x + 1) * s.samples.size() / columns;
    float low = 0, high = 0;
    for (std::size_t i = begin; i < end; ++i) {
      low = std::min(low, s.samples[i]);
      high = std::max(high, s.samples[i]);
    }
    std::fprintf(file, "M%zu %.1fV%.1fH%zuV%.1fZ", x, middle - high * middle, middle - low * middle + 0.5, x + 1,
                 middle - high * middle);
  }
  std::fprintf(file, "\"/>\n<polyline fill=\"none\" stroke=\"#c0392b\" stroke-width=\"1.5\" points=\"");
  for (std::size_t i = 0; i < probability.size(); ++i)
    std::fprintf(file, "%.1f,%.1f ", (static_cast<double>(i) + 0.5) * chunk_seconds * scale,
                 height * (1 - static_cast<double>(probability[i])));
  std::fprintf(file, "\"/>\n");
  for (int t = 0; t <= static_cast<int>(seconds); ++t)
    std::fprintf(file, "<text x=\"%.1f\" y=\"%.0f\" font-size=\"11\" fill=\"#555\">%d s</text>\n", t * scale,
                 height + 16, t);
  std::fprintf(file, "</svg>\n");
  std::fclose(file);
}

int main(int argc, char** argv) {
  std::string model_path, wave_path, out = "speech.svg";
  float threshold = 0.5F;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc)
      out = argv[++i];
    else if (word == "--threshold" && i + 1 < argc)
      threshold = static_cast<float>(std::atof(argv[++i]));
    else if (model_path.empty())
      model_path = word;
    else
      wave_path = word;
  }
  if (wave_path.empty()) fail("usage: voice_activity MODEL.nsk SPEECH.wav [-o OUT.svg] [--threshold 0.5]");

  const memory_block file = read_file(model_path);
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) fail(model_path + ": " + s.message());
  if (model.input_count() != 1 || model.output_count() != 1 || model.variant().state_count() < 1 ||
      model.input(0).elements() <= k_context || model.output(0).elements() != 1 ||
      model.input(0).type() != nsk::dtype::float32 || model.output(0).type() != nsk::dtype::float32)
    fail(model_path + " is not Silero VAD with its memory as a state; examples/models/fetch_silero_vad.sh converts it");
  const memory_block memory(model.required_bytes());
  nsk::session<nsk::all_settings> net(model, memory);
  if (!net) fail(model_path + ": " + net.status().message());

  const sound s = resampled(load_wave(wave_path), k_rate);
  const nsk::span<float> input = net.input<float>(0);
  const std::size_t chunk = input.size() - k_context;
  const double chunk_seconds = static_cast<double>(chunk) / k_rate;
  std::fill(input.begin(), input.end(), 0.0F);
  std::vector<float> probability;
  const double spent = milliseconds([&] {
    for (std::size_t at = 0; at < s.samples.size(); at += chunk) {
      std::copy(input.end() - k_context, input.end(), input.begin());
      for (std::size_t i = 0; i < chunk; ++i)
        input[k_context + i] = at + i < s.samples.size() ? s.samples[at + i] : 0.0F;
      net.run();
      probability.push_back(net.output<float>(0)[0]);
    }
  });

  const std::vector<stretch> speech = stretches_of(probability, chunk_seconds, threshold);
  for (const stretch& part : speech) std::printf("speech from %.2f s to %.2f s\n", part.begin, part.end);
  draw(out, s, probability, speech, chunk_seconds);
  std::printf("%zu chunks of %.0f ms, %.3f ms each; %s\n", probability.size(), chunk_seconds * 1e3,
              spent / static_cast<double>(std::max<std::size_t>(probability.size(), 1)), out.c_str());
}
