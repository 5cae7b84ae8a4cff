// SPDX-License-Identifier: MIT
using System;
using UnityEngine;

namespace Netsuke.Samples
{
    /// <summary>A network with a memory in a game that predicts and rolls back: the last frames can be computed again, bit by bit.</summary>
    public sealed class RollBack : MonoBehaviour
    {
        [SerializeField] private NskModelAsset m_asset;
        private const int Frames = 8;
        private NskModel m_model;
        private NskSession m_session;
        private byte[][] m_snapshots;
        private float[] m_output;

        public int Frame { get; private set; }
        public float[] Output => m_output;

        public void OnEnable()
        {
            m_model = m_asset.Open();
            m_session = new NskSession(m_model);
            m_snapshots = new byte[Frames][];
            for (int i = 0; i < Frames; ++i) m_snapshots[i] = new byte[m_session.StateBytes];
            m_output = new float[m_session.Outputs[0].Elements];
        }

        /// <summary>Computes one frame from the player's input, and remembers the state before it.</summary>
        public void Advance(ReadOnlySpan<float> input)
        {
            m_session.Save(m_snapshots[Frame % Frames]);
            m_session.Write(0, input);
            m_session.Run();
            m_session.Read<float>(0, m_output);
            ++Frame;
        }

        /// <summary>Goes back to the state before `frame`, at most eight frames ago; the game then advances again.</summary>
        public void Return(int frame)
        {
            m_session.Load(m_snapshots[frame % Frames]);
            Frame = frame;
        }

        public void OnDisable()
        {
            if (m_session != null) m_session.Dispose();
            if (m_model != null) m_model.Dispose();
        }
    }
}
