// SPDX-License-Identifier: MIT
using UnrealBuildTool;

public class NetsukeEditor : ModuleRules
{
    public NetsukeEditor(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
        PrivateDependencyModuleNames.AddRange(new string[] { "Core", "CoreUObject", "Engine", "UnrealEd", "NNE", "Netsuke" });
    }
}
