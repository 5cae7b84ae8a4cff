// SPDX-License-Identifier: MIT
#pragma once
#include "NNERuntime.h"
#include "NNEStatus.h"
#include "UObject/WeakInterfacePtr.h"

namespace UE::NNE {

inline std::vector<INNERuntime*> registered_runtimes;

inline EResultStatus RegisterRuntime(TWeakInterfacePtr<INNERuntime> runtime) {
  registered_runtimes.push_back(runtime.Get());
  return EResultStatus::Ok;
}
inline EResultStatus UnregisterRuntime(TWeakInterfacePtr<INNERuntime> runtime) {
  for (auto i = registered_runtimes.begin(); i != registered_runtimes.end(); ++i) {
    if (*i != runtime.Get()) continue;
    registered_runtimes.erase(i);
    return EResultStatus::Ok;
  }
  return EResultStatus::Fail;
}
/// The runtime of this name that has the interface, or null.
template <class Interface>
Interface* GetRuntime(const FString& name) {
  for (INNERuntime* runtime : registered_runtimes) {
    if (runtime->GetRuntimeName() == name) return dynamic_cast<Interface*>(runtime);
  }
  return nullptr;
}

}
