// SPDX-License-Identifier: MIT
#include "io/system/signals.hpp"

#include <pthread.h>

#include <csignal>

namespace nsk::tool {
namespace {
constexpr int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU};
}

struct signal_hold::state {
  sigset_t held, before;
};

signal_hold::signal_hold() : m(std::make_unique<state>()) {
  sigemptyset(&m->held);
  for (const int number : ending) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&m->held, number);
  }
  pthread_sigmask(SIG_BLOCK, &m->held, &m->before);
}

signal_hold::~signal_hold() { pthread_sigmask(SIG_SETMASK, &m->before, nullptr); }

bool signal_hold::interrupted() const {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return false;
  for (const int number : ending)
    if (sigismember(&m->held, number) == 1 && sigismember(&waiting, number) == 1) return true;
  return false;
}

}
