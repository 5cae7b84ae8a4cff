// SPDX-License-Identifier: MIT
#include "io/signals.hpp"

#include <pthread.h>

namespace nsk::tool {
namespace {
constexpr int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU};
}

signal_hold::signal_hold() {
  sigemptyset(&m_held);
  for (const int number : ending) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&m_held, number);
  }
  pthread_sigmask(SIG_BLOCK, &m_held, &m_before);
}

signal_hold::~signal_hold() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

bool signal_hold::interrupted() const {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return false;
  for (const int number : ending)
    if (sigismember(&m_held, number) == 1 && sigismember(&waiting, number) == 1) return true;
  return false;
}

}
