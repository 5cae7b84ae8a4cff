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
        public readonly List<string> PublicDependencyModuleNames = new List<string>(), PrivateDependencyModuleNames = new List<string>(), PrivateIncludePaths = new List<string>();
        public ModuleRules(ReadOnlyTargetRules target) { }
    }

    public static class Program
    {
        public static void Main(string[] modules)
        {
            foreach (string module in modules)
            {
                ModuleRules rules = (ModuleRules)Activator.CreateInstance(Type.GetType(module), new ReadOnlyTargetRules());
                List<string> said = new List<string>(rules.PublicDependencyModuleNames);
                said.AddRange(rules.PrivateDependencyModuleNames);
                said.AddRange(rules.PrivateIncludePaths);
                Console.WriteLine(string.Join(" ", said));
            }
        }
    }
}
