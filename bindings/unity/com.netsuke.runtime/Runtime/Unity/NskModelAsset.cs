// SPDX-License-Identifier: MIT
using UnityEngine;

namespace Netsuke
{
    /// <summary>A .nsk file in a project: the importer makes it, scripts refer to it, Open() makes a model of it.</summary>
    public sealed class NskModelAsset : ScriptableObject
    {
        [SerializeField, HideInInspector] private byte[] m_file;
        [SerializeField] private string m_summary;

        /// <summary>What the importer says about the file: its ports, or why it cannot be opened.</summary>
        public string Summary => m_summary;

        public void SetFile(byte[] file, string summary)
        {
            m_file = file;
            m_summary = summary;
        }

        /// <summary>Opens the file; throws NskException with the reason where that is not possible.</summary>
        public NskModel Open() { return new NskModel(m_file ?? new byte[0]); }
    }
}
