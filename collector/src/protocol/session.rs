//! Sessions: their first turns all at once, then each goes on by itself, its next turn when its last answer ended.

use std::time::Instant;

use dyno_shared::submission::{Check, Run};
use dyno_shared::workload::Sampling;
use tokio::task::JoinSet;

use super::asker::Asker;
use super::batch;
use super::judge::{Answered, Place, judge};
use super::proof::Proof;
use super::rig::{Rig, Sending, Sent};
use crate::endpoint::openai_chat::Message;
use crate::stream::Observed;
use crate::transport::Target;
use crate::workload::{Expected, Prompt, later_turn};

/// One session between two of its turns, with all that it needs to go on by itself.
struct Session {
    target: Target,
    asker: Asker,
    sampling: Sampling,
    stream: u32,
    /// Tag of its first turn.
    first: String,
    history: Vec<Message>,
}

impl Rig<'_> {
    /// Sends first turns, and once all are answered the later ones: two runs of one number, because the first are
    /// cold and the others meet the cache.
    pub(super) async fn send_sessions(&self, sending: &Sending<'_>, prompts: Vec<Prompt>) -> Sent {
        let asks = self.asks(&prompts, &sending.sampling);
        let (run, mut observed) =
            self.window(sending.number, async |start| batch::drive(self.target, asks, start).await).await;
        for first in &mut observed {
            first.record.turn = Some(1);
        }
        let sessions = (0..)
            .zip(prompts.iter().zip(&observed))
            .filter(|(_, (_, first))| first.record.error.is_none())
            .map(|(stream, (prompt, first))| Session {
                target: self.target.clone(),
                asker: self.asker(),
                sampling: sending.sampling.clone(),
                stream,
                first: prompt.tag.clone(),
                history: vec![Message::user(prompt.text.clone()), Message::assistant(first.text.clone())],
            })
            .collect();
        let later = self.later_turns(sending, sessions).await;
        Sent { continuation: Some(later), ..self.judged(sending, run, prompts, observed) }
    }

    async fn later_turns(&self, sending: &Sending<'_>, sessions: Vec<Session>) -> Run {
        let turns = sending.case.turns.unwrap_or(1);
        let (mut run, observed) =
            self.window(sending.number, async |start| go_on(sessions, turns, start).await).await;
        let wanted = sending.case.streams() as usize * turns.saturating_sub(1) as usize;
        let sent = observed.len();
        let answers = observed.into_iter().map(|observed| Answered {
            expected: Expected::Anything,
            tokens: sending.tokens(),
            place: Place { stream: Some(observed.record.stream), turn: observed.record.turn },
            observed,
        });
        let proof = sending.proof().map(|_| Proof::Cached);
        judge(self.plan, &mut run, answers.collect(), proof);
        if proof.is_some() && sent < wanted {
            let detail = format!("{sent} of {wanted} turns were sent: a session ends with a turn that fails");
            run.checks.push(Check { name: "all_turns".to_owned(), passed: false, detail: Some(detail) });
        }
        run
    }
}

/// All later turns of all sessions, those of one session after each other; each session waits for itself alone.
async fn go_on(sessions: Vec<Session>, turns: u32, run_start: Instant) -> Vec<Observed> {
    let mut going_on = JoinSet::new();
    for session in sessions {
        going_on.spawn(session.go_on(turns, run_start));
    }
    let mut observed: Vec<Observed> = going_on.join_all().await.into_iter().flatten().collect();
    observed.sort_by_key(|observed| (observed.record.stream, observed.record.turn));
    observed
}

impl Session {
    /// The turns from the second on, until one fails.
    async fn go_on(mut self, turns: u32, run_start: Instant) -> Vec<Observed> {
        let mut answers = Vec::new();
        for turn in 2..=turns {
            let prompt = later_turn(&self.first, turn);
            self.history.push(Message::user(prompt.text));
            let ask = self.asker.ask(self.history.clone(), prompt.tag, &self.sampling, self.stream);
            let mut observed = batch::one(&self.target, ask, run_start).await;
            observed.record.turn = Some(turn);
            let failed = observed.record.error.is_some();
            self.history.push(Message::assistant(observed.text.clone()));
            answers.push(observed);
            if failed {
                break;
            }
        }
        answers
    }
}
