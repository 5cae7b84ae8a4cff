// SPDX-License-Identifier: MIT
// As much of NUnit and of the editor's data base as the package's own tests name. ASSETS is the folder of the package.
using System;
using System.IO;
using UnityEditor.AssetImporters;

namespace NUnit.Framework
{
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class TestAttribute : Attribute { }

    public static class Assert
    {
        public static void IsTrue(bool condition, string text)
        {
            if (!condition) throw new InvalidOperationException(text);
        }
        public static void AreEqual(object expected, object actual) { IsTrue(expected.Equals(actual), "expected " + expected + ", not " + actual); }
        public static T Throws<T>(Action action) where T : Exception
        {
            try
            {
                action();
            }
            catch (T error)
            {
                return error;
            }
            throw new InvalidOperationException("nothing was thrown");
        }
    }
}

namespace UnityEditor
{
    public static class AssetDatabase
    {
        public static T LoadAssetAtPath<T>(string path) where T : UnityEngine.Object
        {
            string file = path.Replace("Packages/com.netsuke.runtime", Environment.GetEnvironmentVariable("ASSETS"));
            if (!File.Exists(file)) return null;
            AssetImportContext context = new AssetImportContext { assetPath = file };
            new Netsuke.Editor.NskImporter().OnImportAsset(context);
            return context.MainObject as T;
        }
    }
}
