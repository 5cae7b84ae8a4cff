// SPDX-License-Identifier: MIT
#pragma once
class IModuleInterface {
 public:
  virtual ~IModuleInterface() = default;
  virtual void StartupModule() {}
};
#define IMPLEMENT_MODULE(type, name) \
  void start_module();               \
  void start_module() {              \
    type module;                     \
    module.StartupModule();          \
  }
