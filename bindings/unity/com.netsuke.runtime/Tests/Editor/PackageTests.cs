// SPDX-License-Identifier: MIT
using NUnit.Framework;
using UnityEditor;

namespace Netsuke.Tests
{
    /// <summary>
    /// Whether the package works in this editor: its library is loaded, its importer reads a model, and this machine computes
    /// what the converter did. The archive has the model; a checkout of the repository does not.
    /// </summary>
    public sealed class PackageTests
    {
        private const string Model = "Packages/com.netsuke.runtime/Tests/Editor/agent.nsk";

        private static NskModel Open()
        {
            NskModelAsset asset = AssetDatabase.LoadAssetAtPath<NskModelAsset>(Model);
            Assert.IsTrue(asset != null, Model + " is not imported");
            return asset.Open();
        }

        [Test]
        public void LibraryIsLoaded()
        {
            Assert.IsTrue(NskModel.LibraryVersion.Length > 0 && NskModel.LibraryIsa.Length > 0, "the library has no version");
            NskImageSettings how = NskImageSettings.Default;
            Assert.IsTrue(how.Whole && how.Scale.First == 1 / 255f && how.Order == NskChannelOrder.Rgb, "settings of images have another layout");
        }

        [Test]
        public void BytesThatAreNoModelAreRefused()
        {
            NskException error = Assert.Throws<NskException>(() => new NskModel(new byte[100]));
            Assert.AreEqual("bad_magic", error.Name);
        }

        [Test]
        public void ModelComputesWhatTheConverterDid()
        {
            using (NskModel model = Open())
            using (NskSession session = new NskSession(model))
            {
                session.SelfTest();
                Assert.AreEqual(8, model.MaxBatch());
            }
        }

        [Test]
        public void BatcherAnswersAgents()
        {
            using (NskModel model = Open())
            using (NskSession session = new NskSession(model))
            using (NskBatcher crowd = new NskBatcher(model, 3, 3))
            {
                float[] row = new float[crowd.RowBytes / sizeof(float)];
                for (int agent = 0; agent < 3; ++agent) crowd.Ask<float>(agent, row);
                Assert.AreEqual(3, crowd.Run(session));
                Assert.AreEqual(NskStanding.Answered, crowd.Standing(2));
            }
        }
    }
}
