// SPDX-License-Identifier: MIT
// Closes what begin.hpp beside it opened: nothing.
