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
    const nsk_status Status = nsk_check_library(NSK_C_VERSION);
    if (Status.code != nsk_status_ok) {
      UE_LOG(LogNetsuke, Error, TEXT("%s"), UTF8_TO_TCHAR(nsk_status_text(Status.code)));
    }
  }
};

IMPLEMENT_MODULE(FNetsukeModule, Netsuke)
