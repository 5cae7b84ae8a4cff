// SPDX-License-Identifier: MIT
#pragma once
class IModuleInterface {
 public:
  virtual ~IModuleInterface() = default;
  virtual void StartupModule() {}
  virtual void ShutdownModule() {}
};
class FDefaultModuleImpl : public IModuleInterface {};
/// make_NAME() makes the module.
#define IMPLEMENT_MODULE(type, name) \
  IModuleInterface* make_##name();   \
  IModuleInterface* make_##name() { return new type; }
