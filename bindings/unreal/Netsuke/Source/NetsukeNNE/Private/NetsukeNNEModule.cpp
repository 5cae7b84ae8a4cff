// SPDX-License-Identifier: MIT
#include "CoreMinimal.h"
#include "Modules/ModuleManager.h"
#include "NNE.h"
#include "NetsukeRuntime.h"
#include "UObject/WeakInterfacePtr.h"

/** Registers the runtime, for as long as the module is loaded. */
class FNetsukeNNEModule final : public IModuleInterface {
 public:
  void StartupModule() override {
    Runtime = NewObject<UNetsukeRuntime>();
    Runtime->AddToRoot();  // the registry holds it weakly
    UE::NNE::RegisterRuntime(TWeakInterfacePtr<INNERuntime>(Runtime.Get()));
  }
  void ShutdownModule() override {
    if (!Runtime.IsValid()) return;
    UE::NNE::UnregisterRuntime(TWeakInterfacePtr<INNERuntime>(Runtime.Get()));
    Runtime->RemoveFromRoot();
    Runtime = nullptr;
  }

 private:
  TWeakObjectPtr<UNetsukeRuntime> Runtime;
};

IMPLEMENT_MODULE(FNetsukeNNEModule, NetsukeNNE)
