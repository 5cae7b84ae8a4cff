// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Text;
using UnityEditor.AssetImporters;
using UnityEngine;

namespace Netsuke.Editor
{
    /// <summary>Imports .nsk files as NskModelAsset, and says in the console why one cannot be opened.</summary>
    [ScriptedImporter(1, "nsk")]
    public sealed class NskImporter : ScriptedImporter
    {
        public override void OnImportAsset(AssetImportContext context)
        {
            byte[] file = File.ReadAllBytes(context.assetPath);
            string summary;
            try
            {
                using (NskModel model = new NskModel(file)) summary = Describe(model);
            }
            catch (NskException e)
            {
                summary = e.Message;
                context.LogImportError(context.assetPath + ": " + e.Message);
            }
            catch (DllNotFoundException e)
            {
                summary = "The native library is missing in Plugins/: " + e.Message;
                context.LogImportWarning(summary);
            }
            NskModelAsset asset = ScriptableObject.CreateInstance<NskModelAsset>();
            asset.SetFile(file, summary);
            context.AddObjectToAsset("model", asset);
            context.SetMainObject(asset);
        }

        /// <summary>Name, ports and memory, a line each.</summary>
        public static string Describe(NskModel model)
        {
            StringBuilder text = new StringBuilder(model.Name + ": " + model.RequiredBytes() + " bytes of memory\n");
            foreach (NskPort port in model.Inputs()) text.Append("in  ").Append(Line(port));
            foreach (NskPort port in model.Outputs()) text.Append("out ").Append(Line(port));
            return text.ToString();
        }

        private static string Line(NskPort port)
        {
            return port.Name + " " + port.Type + " [" + string.Join(", ", Array.ConvertAll(port.Shape, n => n.ToString())) + "]\n";
        }
    }
}
