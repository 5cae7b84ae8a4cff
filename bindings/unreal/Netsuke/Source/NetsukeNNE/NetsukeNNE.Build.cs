// SPDX-License-Identifier: MIT
using System.IO;
using UnrealBuildTool;

public class NetsukeNNE : ModuleRules
{
    public NetsukeNNE(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
        PublicDependencyModuleNames.AddRange(new string[] { "Core", "CoreUObject", "Engine", "NNE", "Netsuke" });
        PrivateIncludePaths.Add(Path.Combine(ModuleDirectory, "..", "ThirdParty", "netsuke", "include"));
    }
}
