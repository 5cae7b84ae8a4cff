// SPDX-License-Identifier: MIT
// As much of Unreal Build Tool as the plug-in's rules name; the program prints what they say.
using System;
using System.Collections.Generic;

namespace UnrealBuildTool
{
    public sealed class ReadOnlyTargetRules { }
    public class ModuleRules
    {
        public enum PCHUsageMode { UseExplicitOrSharedPCHs }
        public PCHUsageMode PCHUsage;
        public bool bUseUnity = true;
        public string ModuleDirectory = "Module";
        public readonly List<string> PublicDependencyModuleNames = new List<string>(), PrivateIncludePaths = new List<string>();
        public ModuleRules(ReadOnlyTargetRules target) { }
    }

    public static class Program
    {
        public static void Main()
        {
            ModuleRules rules = new Netsuke(new ReadOnlyTargetRules());
            Console.WriteLine(string.Join(" ", rules.PublicDependencyModuleNames) + " " + string.Join(" ", rules.PrivateIncludePaths));
        }
    }
}
