// SPDX-License-Identifier: MIT
using Unity.Collections;
using UnityEngine;

namespace Netsuke.Samples
{
    /// <summary>Runs a network in slices of at most so many microseconds per frame; no garbage from frame to frame.</summary>
    public sealed class SpreadOverFrames : MonoBehaviour
    {
        [SerializeField] private NskModelAsset m_asset;
        [SerializeField] private long m_microsecondsPerFrame = 500;
        private NskModel m_model;
        private NskSession m_session;
        private NativeArray<float> m_input;

        /// <summary>How many inferences are complete, and the place of the largest score of the last one.</summary>
        public int Completed { get; private set; }
        public int Best { get; private set; }

        public void OnEnable()
        {
            m_model = m_asset.Open();
            m_session = new NskSession(m_model);
            m_input = m_session.InputArray<float>(0);
            for (int i = 0; i < m_input.Length; ++i) m_input[i] = 0.5f;  // a game writes its camera or its observations here
        }

        public void Update()
        {
            if (!m_session.RunForTime(m_microsecondsPerFrame)) return;
            NativeArray<float> scores = m_session.OutputArray<float>(0);
            Best = 0;
            for (int i = 1; i < scores.Length; ++i)
            {
                if (scores[i] > scores[Best]) Best = i;
            }
            ++Completed;
        }

        public void OnDisable()
        {
            if (m_session != null) m_session.Dispose();
            if (m_model != null) m_model.Dispose();
        }
    }
}
