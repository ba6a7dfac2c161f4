//! One prompt timed at two lengths of its answer, 1 token and all of them, so that prefill cancels.

use dyno_shared::submission::Run;

use super::batch;
use super::judge::{Answered, Place, judge};
use super::rig::{Rig, Sending, Sent};
use crate::workload::{Expected, Prompt};

impl Rig<'_> {
    /// Sends the prompt four times: each of the two that count is preceded by one that fills the cache, so that both
    /// meet the same state of it. Only the two are recorded, and no counters, which would hold all four.
    pub(super) async fn send_at_two_lengths(&self, sending: &Sending<'_>, prompts: Vec<Prompt>) -> Sent {
        let Some(prompt) = prompts.into_iter().next() else {
            return self.judged(sending, Run::default(), Vec::new(), Vec::new());
        };
        let mut short = sending.sampling.clone();
        short.max_tokens = Some(1);
        let asks = [&short, &sending.sampling].map(|sampling| self.ask(&prompt, sampling, 0));
        let priming = self.ask(&prompt, &short, 0);
        let (mut run, observed) = self
            .window(sending.number, async |start| {
                let mut both = Vec::new();
                for ask in asks {
                    batch::one(self.target, priming.clone(), start).await;
                    both.push(batch::one(self.target, ask, start).await);
                }
                both
            })
            .await;
        run.counters = None;
        if let Some(told) = &mut run.telemetry {
            // Nor the energy, for the same reason.
            (told.gpu_energy_j, told.cpu_energy_j, told.energy_source) = (None, None, None);
        }
        let text = observed.last().map_or_else(String::new, |long| long.text.clone());
        // One token is no list and no count.
        let demands =
            [(Expected::Anything, sending.tokens().map(|_| 1)), (prompt.expected, sending.tokens())];
        let answers = demands.into_iter().zip(observed).map(|((expected, tokens), observed)| Answered {
            expected,
            tokens,
            place: Place::default(),
            observed,
        });
        judge(self.plan, &mut run, answers.collect(), sending.proof());
        Sent { run, continuation: None, text, seconds: 0.0 }
    }
}
