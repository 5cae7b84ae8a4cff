// SPDX-License-Identifier: MIT
#include "CoreMinimal.h"
#include "Modules/ModuleManager.h"
#include "NetsukeModel.h"
#include <netsuke/c/netsuke.h>

DEFINE_LOG_CATEGORY(LogNetsuke);

/** Says at the start of the game whether this processor can run the engine. */
class FNetsukeModule final : public IModuleInterface {
 public:
  void StartupModule() override {
    FString Reason;
    if (!UNetsukeModel::Succeeded(nsk_check_library(NSK_C_VERSION), nullptr, Reason)) {
      UE_LOG(LogNetsuke, Error, TEXT("%s"), *Reason);
    }
  }
};

IMPLEMENT_MODULE(FNetsukeModule, Netsuke)
