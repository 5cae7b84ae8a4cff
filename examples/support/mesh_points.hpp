// SPDX-License-Identifier: MIT
#pragma once
/// The numbering of MediaPipe's face mesh: 468 points, and behind them five for each iris where the model has irises.
/// Left and right are the person's. Sources: face_mesh_connections.py of the package mediapipe; the refinements of
/// tensors_to_face_landmarks_with_attention.pbtxt.
#include <cstddef>
#include <cstdint>

namespace example {

inline constexpr std::size_t k_mesh_points = 468, k_iris_points = 5;
/// Outer corners of the right and the left eye.
inline constexpr std::size_t k_right_corner = 33, k_left_corner = 263;
/// The left corner of the mouth, the middle of the upper and of the lower lip where they meet, and the lower edge of
/// the lower lip.
inline constexpr std::size_t k_left_mouth_corner = 291, k_lip_middle = 13, k_inner_lower_lip = 14, k_lower_lip = 17;

using mesh_index = std::uint16_t;

// Outlines, closed.
inline constexpr mesh_index k_oval[] = {10,  338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288,
                                        397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136,
                                        172, 58,  132, 93,  234, 127, 162, 21,  54,  103, 67,  109};
inline constexpr mesh_index k_outer_lips[] = {61,  146, 91,  181, 84,  17, 314, 405, 321, 375,
                                              291, 409, 270, 269, 267, 0,  37,  39,  40,  185};
inline constexpr mesh_index k_inner_lips[] = {78,  95,  88,  178, 87,  14, 317, 402, 318, 324,
                                              308, 415, 310, 311, 312, 13, 82,  81,  80,  191};
inline constexpr mesh_index k_left_eye[] = {263, 249, 390, 373, 374, 380, 381, 382,
                                            362, 398, 384, 385, 386, 387, 388, 466};
inline constexpr mesh_index k_right_eye[] = {33,  7,   163, 144, 145, 153, 154, 155,
                                             133, 173, 157, 158, 159, 160, 161, 246};
inline constexpr mesh_index k_irises[2][4] = {{469, 470, 471, 472}, {474, 475, 476, 477}};
// Open lines.
inline constexpr mesh_index k_brows[4][5] = {
    {276, 283, 282, 295, 285}, {300, 293, 334, 296, 336}, {46, 53, 52, 65, 55}, {70, 63, 105, 66, 107}};

// Where the points of the parts that the model with attention looks at twice belong in the mesh; of the eyes the right
// one first, as of the irises.
inline constexpr mesh_index k_refined_lips[] = {
    61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 185, 40, 39, 37, 0,  267, 269, 270, 409,
    78, 95,  88, 178, 87, 14, 317, 402, 318, 324, 308, 191, 80, 81, 82, 13, 312, 311, 310, 415,
    76, 77,  90, 180, 85, 16, 315, 404, 320, 307, 306, 184, 74, 73, 72, 11, 302, 303, 304, 408,
    62, 96,  89, 179, 86, 15, 316, 403, 319, 325, 292, 183, 42, 41, 38, 12, 268, 271, 272, 407};
inline constexpr mesh_index k_refined_eyes[2][71] = {
    {33,  7,   163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173, 130, 25,
     110, 24,  23,  22,  26,  112, 243, 247, 30,  29,  27,  28,  56,  190, 226, 31,  228, 229,
     230, 231, 232, 233, 244, 113, 225, 224, 223, 222, 221, 189, 35,  124, 46,  53,  52,  65,
     143, 111, 117, 118, 119, 120, 121, 128, 245, 156, 70,  63,  105, 66,  107, 55,  193},
    {263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398, 359, 255,
     339, 254, 253, 252, 256, 341, 463, 467, 260, 259, 257, 258, 286, 414, 446, 261, 448, 449,
     450, 451, 452, 453, 464, 342, 445, 444, 443, 442, 441, 413, 265, 353, 276, 283, 282, 295,
     372, 340, 346, 347, 348, 349, 350, 357, 465, 383, 300, 293, 334, 296, 336, 285, 417}};
/// Points of the eye's outline among those, whose mean depth is the iris's.
inline constexpr std::size_t k_eye_outline = 16;

}  // namespace example
