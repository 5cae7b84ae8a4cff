// SPDX-License-Identifier: MIT
#include "quantize/calibrate/images.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>

#include <netsuke/image.hpp>

#include "errors.hpp"
#include "io/files.hpp"
#include "io/system/paths.hpp"
#include "io/text.hpp"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 14)
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace nsk::tool {
namespace {

constexpr std::uint64_t max_file = std::uint64_t{1} << 30;

/// How an input lays out an image.
struct image_shape {
  std::int64_t channels, height, width;
  bool channels_last;
};

image_shape shape_of(const value& input) {
  shape_t s = input.shape;
  if (s.size() == 4 && s[0] == 1) s.erase(s.begin());
  const auto colours = [](std::int64_t n) { return n == 1 || n == 3 || n == 4; };
  if (s.size() != 3 || (!colours(s[0]) && !colours(s[2])) || input.type != element::f32)
    refuse("--calibrate: input '" + input.name + "' of shape " + to_string(input.shape) +
           " takes no image, which is one float32 image of 1, 3 or 4 channels. Give it .npy files.");
  if (colours(s[0]) && colours(s[2]))
    refuse("--calibrate: input '" + input.name + "' of shape " + to_string(input.shape) +
           " could have its channels first or last. Give it .npy files.");
  return colours(s[0]) ? image_shape{s[0], s[1], s[2], false} : image_shape{s[2], s[0], s[1], true};
}

float number_of(const std::vector<float>& numbers, std::size_t channel, float otherwise) {
  return numbers.empty() ? otherwise : numbers[numbers.size() == 1 ? 0 : channel];
}

image_settings settings_of(const image_shape& shape, const image_choices& how) {
  image_settings s;
  const bool bgr = how.bgr.value_or(false);
  s.fit = how.fit.value_or(image_fit::stretch);
  s.order = shape.channels == 1   ? channel_order::grey
            : shape.channels == 3 ? (bgr ? channel_order::bgr : channel_order::rgb)
                                  : (bgr ? channel_order::bgra : channel_order::rgba);
  s.scale = channel_scale::to_unit();
  const std::size_t scaled = how.mean.size() == 4 ? 4 : 3;  // alpha counts from 0 to 1 unless there are numbers for it
  for (std::size_t c = 0; c < scaled; ++c) {
    const float mean = number_of(how.mean, c, 0), deviation = number_of(how.deviation, c, 1);
    s.scale.scale[c] = how.white.value_or(1) / (255 * deviation);
    s.scale.offset[c] = -mean / deviation;
  }
  return s;
}

}

image_choices completed(image_choices how, const port_facts& facts, const value& input) {
  const std::size_t channels = input.shape.empty() ? 0 : static_cast<std::size_t>(input.shape.back());
  const std::size_t count = facts.mean.size();
  const bool fits = count == 1 || count == channels;
  if (!how.has_numbers() && fits && facts.deviation.size() == count) {
    how.mean = facts.mean;
    how.deviation = facts.deviation;
    how.white = 255.0f;
    how.numbers_by_model = true;
  }
  if (!how.bgr && facts.color == "rgb") {
    how.bgr = false;
    how.colors_by_model = true;
  }
  return how;
}

std::string description_of(const image_choices& how) {
  const auto list = [](const std::vector<float>& numbers, const char* otherwise) {
    std::string text;
    for (const float x : numbers) text += (text.empty() ? "" : ", ") + format_text("%g", static_cast<double>(x));
    return numbers.empty() ? std::string(otherwise) : numbers.size() == 1 ? text : "(" + text + ")";
  };
  const bool plain = !how.has_numbers();
  const char* const who = how.numbers_by_model ? ", as the model's metadata says"
                          : plain              ? ", as neither --mean, --std and --white nor the model say otherwise"
                                               : ", by --mean, --std and --white";
  const std::string levels = format_text("levels from 0 to %g", static_cast<double>(how.white.value_or(1)));
  const std::string numbers =
      plain ? levels : "(x - " + list(how.mean, "0") + ") / " + list(how.deviation, "1") + " of " + levels;
  return numbers + who + "; colours " + (how.bgr.value_or(false) ? "bgr" : "rgb") +
         (how.colors_by_model ? ", as the metadata says"
          : how.bgr           ? ", by --color"
                              : "");
}

bool is_image_file(const std::string& path) {
  static const std::set<std::string> endings = {".png", ".jpg", ".jpeg", ".bmp", ".tga",
                                                ".gif", ".psd", ".ppm",  ".pgm"};
  std::string ending = utf8_of(path_of(path).extension());
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return endings.count(ending) != 0;
}

stored_port pixels_of(const value& input, const image_choices& how) {
  const image_shape shape = shape_of(input);
  const image_settings s = settings_of(shape, how);
  stored_port p;
  p.axis = input.shape.size() - (shape.channels_last ? 1 : 3);
  p.scale.assign(s.scale.scale, s.scale.scale + shape.channels);
  p.offset.assign(s.scale.offset, s.scale.offset + shape.channels);
  return p;
}

array read_image(const std::string& path, const value& input, const image_choices& how) {
  const image_shape shape = shape_of(input);
  const std::vector<std::byte> file = read_file(path, "image", max_file);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), static_cast<int>(file.size()), &width,
                            &height, &channels, 4),
      stbi_image_free);
  if (pixels == nullptr)
    refuse("--calibrate: '" + path + "' is no image that can be read: " + stbi_failure_reason() + ".");
  const image_view view{pixels.get(), width, height, std::ptrdiff_t{4} * width, pixel_format::rgba8};
  std::vector<float> numbers(static_cast<std::size_t>(shape.channels * shape.height * shape.width));
  image_to_tensor(view, settings_of(shape, how), numbers, static_cast<std::int32_t>(shape.height),
                  static_cast<std::int32_t>(shape.width));
  array result(input.type, input.shape);
  const std::int64_t pixel_count = shape.height * shape.width;
  for (std::int64_t i = 0; i < pixel_count; ++i)
    for (std::int64_t c = 0; c < shape.channels; ++c)
      result.set(shape.channels_last ? i * shape.channels + c : c * pixel_count + i,
                 static_cast<double>(numbers[static_cast<std::size_t>(i * shape.channels + c)]));
  return result;
}

}
