// SPDX-License-Identifier: MIT
using System.IO;
using UnrealBuildTool;

public class Netsuke : ModuleRules
{
    public Netsuke(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
        bUseUnity = false;  // one file has the kernels; nothing else waits for it
        PublicDependencyModuleNames.AddRange(new string[] { "Core", "CoreUObject", "Engine" });
        // The engine's headers and those of FlatBuffers.
        PrivateIncludePaths.Add(Path.Combine(ModuleDirectory, "..", "ThirdParty", "netsuke", "include"));
    }
}
