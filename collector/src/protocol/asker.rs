//! Makes requests of conversations.

use dyno_shared::shard::sha256_hex;
use dyno_shared::workload::Sampling;

use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::{ChatRequest, Message, Optional, Role};
use crate::transport::Ask;

/// What all requests of a measurement have in common.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    /// The model by the server's own name for it.
    pub(super) model: String,
    /// Which optional fields are sent.
    pub(super) optional: Optional,
    /// How the server is asked.
    pub(super) dialect: Dialect,
}

impl Asker {
    /// The request of one stream that goes on with a conversation, or begins one. What proves that two runs pair is
    /// what we say in it: the answers are the engine's.
    pub(super) fn ask(
        &self,
        messages: Vec<Message>,
        run_tag: String,
        sampling: &Sampling,
        stream: u32,
    ) -> Ask {
        let ours = messages.iter().filter(|message| message.role == Role::User);
        let ours: Vec<&str> = ours.map(|message| message.content.as_str()).collect();
        let prompt_sha256 = Some(sha256_hex(ours.join("\0").as_bytes()));
        let request = ChatRequest {
            model: self.model.clone(),
            messages,
            sampling: sampling.clone(),
            optional: self.optional,
        };
        let (path, body) = (self.dialect.path(), self.dialect.body(&request));
        Ask { path, body, stream, run_tag, prompt_sha256, t_due: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_answers_do_not_decide_whether_runs_pair() {
        let asker = Asker { model: "m".into(), optional: Optional::USUAL, dialect: Dialect::OpenAiChat };
        let hash = |messages| asker.ask(messages, "t".into(), &Sampling::default(), 0).prompt_sha256;
        let turn = |answer: &str, second: &str| {
            hash(vec![Message::user("one"), Message::assistant(answer), Message::user(second)])
        };
        assert_eq!(turn("yes", "two"), turn("no", "two"));
        assert_ne!(turn("yes", "two"), turn("yes", "three"));
        assert_eq!(hash(vec![Message::user("one")]), Some(sha256_hex(b"one")));
    }
}
