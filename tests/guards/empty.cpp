// SPDX-License-Identifier: MIT
// Nothing: guards include what they look at on the command line.
