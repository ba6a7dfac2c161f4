//! A first request, before anything is measured: whether the engine answers at all, and how long its tokens are.

use dyno_shared::record::{RequestError, RequestErrorKind};
use dyno_shared::workload::Sampling;

use super::asker::Asker;
use crate::endpoint::openai_chat::{Message, Optional};
use crate::engine::{Identified, count_tokens};
use crate::stream::Observed;
use crate::transport::{Target, drive};
use crate::workload::{CharsPerToken, samples};

/// A few tokens, because the first one of some models is no text.
const MOST_TOKENS: u64 = 8;

/// What the trial found.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// How long a token of our long texts is.
    pub chars_per_token: CharsPerToken,
    /// Whether that was measured; else it is the usual length.
    pub measured: bool,
    /// Tokens that the chat template adds to one message, where the engine both counts tokens and reports them.
    pub template_tokens: Option<u64>,
    /// About how fast one stream decodes, in tokens per second.
    pub decode_tok_s: Option<f64>,
}

/// Asks for a few tokens with every field that the measurement will send. A failure that may pass is tried again
/// once.
///
/// # Errors
/// Why the engine does not answer.
pub async fn trial(
    target: &Target,
    identified: &Identified,
    optional: Optional,
) -> Result<Trial, RequestError> {
    let [short, long] = samples();
    let mut first = ask(target, identified, optional, &short).await;
    if first.record.error.as_ref().is_some_and(may_pass) {
        first = ask(target, identified, optional, &short).await;
    }
    if let Some(error) = first.record.error {
        return Err(error);
    }
    let chars = long.chars().count() - short.chars().count();
    let reported = first.record.prompt_tokens;
    let rate = first.record.decoded_tokens().zip(first.record.decode_span());
    let decode_tok_s = rate.map(|(tokens, span)| tokens / span.get()).filter(|rate| rate.is_finite());
    let short_tokens = count_tokens(target, identified, &short).await;
    let template_tokens = reported.zip(short_tokens).and_then(|(all, text)| all.get().checked_sub(text));
    let long_tokens = count_tokens(target, identified, &long).await;
    let counted = if let (Some(short), Some(long)) = (short_tokens, long_tokens) {
        long.checked_sub(short)
    } else {
        // Without a tokeniser the answers' own counts say it; the template is in both of them.
        let second = ask(target, identified, optional, &long).await.record;
        second.prompt_tokens.zip(reported).and_then(|(l, s)| l.get().checked_sub(s.get()))
    };
    let measured = counted.and_then(|tokens| CharsPerToken::measured(chars, tokens));
    Ok(Trial {
        chars_per_token: measured.unwrap_or(CharsPerToken::USUAL),
        measured: measured.is_some(),
        template_tokens,
        decode_tok_s,
    })
}

/// A refusal would be refused again; a closed connection or a full queue may have been bad luck.
fn may_pass(error: &RequestError) -> bool {
    !matches!(
        error.kind,
        RequestErrorKind::Connect | RequestErrorKind::Status | RequestErrorKind::FirstByteTimeout
    )
}

async fn ask(target: &Target, identified: &Identified, optional: Optional, text: &str) -> Observed {
    let sampling = Sampling {
        temperature: Some(0.0),
        top_p: Some(1.0),
        top_k: Some(1),
        seed: Some(1),
        max_tokens: Some(MOST_TOKENS),
        ignore_eos: Some(true),
        thinking: Some(false),
    };
    let asker = Asker { model: identified.model_id.clone(), optional, dialect: identified.dialect };
    let ask = asker.ask(vec![Message::user(text)], "trial".to_owned(), &sampling, 0);
    drive(target, ask, std::time::Instant::now()).await
}
