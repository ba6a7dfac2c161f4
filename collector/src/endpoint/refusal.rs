//! What a server says when it refuses, and what to do about it.

use dyno_shared::plain::plain;
use serde_json::Value;

use super::openai_chat::OPTIONAL;

/// The longest quotation of a server.
const LONGEST_QUOTE: usize = 400;

/// The words of an error in any of the shapes that servers use: a string, or an object with `message`, `error`,
/// `detail` or `msg`. `None` for null.
pub fn words(error: &Value) -> Option<String> {
    match error {
        Value::Null => None,
        Value::String(text) => Some(quote(text)),
        Value::Object(fields) => {
            let inner = ["message", "error", "detail", "msg"].iter().find_map(|key| words(fields.get(*key)?));
            Some(inner.unwrap_or_else(|| quote(&error.to_string())))
        }
        Value::Array(all) => {
            all.iter().find_map(words).or_else(|| Some("an empty list of errors".to_owned()))
        }
        other => Some(other.to_string()),
    }
}

/// A sentence about an HTTP status: what the server said, and what to do.
pub fn explain(status: u16, body: &str) -> String {
    // Some servers send the error of a streamed request as an event.
    let json = body.trim().strip_prefix("data:").unwrap_or(body.trim());
    let said = match serde_json::from_str::<Value>(json) {
        Ok(value) => words(&value).unwrap_or_default(),
        Err(_) => quote(body),
    };
    let mut sentence = format!("the server answered {status}");
    if !said.is_empty() {
        sentence.push_str(": ");
        sentence.push_str(said.trim_end_matches('.'));
    }
    if let Some(remedy) = remedy(status, &said) {
        sentence.push_str(". ");
        sentence.push_str(&remedy);
    }
    sentence
}

/// What to do about an HTTP status, where there is something to say.
pub fn remedy(status: u16, said: &str) -> Option<String> {
    let lower = said.to_lowercase();
    let text = match status {
        300..=399 => "The server redirects: give the address that it redirects to with --url",
        401 | 403 => "Pass the server's key with --api-key or in the environment variable DYNO_API_KEY",
        404 if names_field(&lower, "model") => {
            "Name one of the models that GET /v1/models lists with --model"
        }
        404 => {
            "There is no such route here: --url must be the root of an OpenAI-compatible server, such as \
             http://127.0.0.1:8080, and --endpoint a route that it has"
        }
        413 => "The prompt is larger than the server takes: choose shorter prompts",
        429 => "The server limits its load: choose a lower concurrency, or raise the server's limit",
        502 | 504 => {
            "What answers is a gateway and the engine behind it does not: see whether the engine runs"
        }
        503 => "The engine is not ready, perhaps still loading its model: wait until GET /health answers 200",
        400..=499 => return refused_request(said, &lower),
        500..=599 => "The engine failed: its log says more",
        _ => return None,
    };
    Some(text.to_owned())
}

fn refused_request(said: &str, lower: &str) -> Option<String> {
    let names_the_context =
        ["context", "max_model_len", "maximum model length"].iter().any(|w| lower.contains(w));
    if names_the_context
        && ["exceed", "greater", "maximum", "too long", "longer than"].iter().any(|w| lower.contains(w))
    {
        return Some(
            "Prompt and answer do not fit the context: choose smaller cases, or start the engine with a larger \
             context (`-c` of llama-server, `--max-model-len` of vLLM, `OLLAMA_CONTEXT_LENGTH` of Ollama)"
                .to_owned(),
        );
    }
    if ["think value", "support thinking"].iter().any(|words| lower.contains(words))
        || ["enable_thinking", "reasoning_effort"].iter().any(|field| names_field(said, field))
    {
        return Some(
            "Thinking cannot be switched here: omit the switch with --no-thinking-switch".to_owned(),
        );
    }
    let (field, flag) = OPTIONAL.iter().find(|(field, _)| names_field(said, field))?;
    Some(format!("The server does not take `{field}`: omit it with {flag}"))
}

/// Whether a text names a field as a word of its own (`seed`, not `seeded`).
fn names_field(text: &str, field: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == field)
}

/// Text from a server on one line and cut to a readable length.
pub fn quote(text: &str) -> String {
    let mut line = String::new();
    for word in plain(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > LONGEST_QUOTE {
            let mut end = LONGEST_QUOTE;
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_error_body_gives_the_servers_words() {
        for (body, expected) in [
            (r#"{"error":{"code":400,"message":"boom","type":"x"}}"#, "boom"),
            (r#"{"error":"boom"}"#, "boom"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required"),
            (r#"{"object":"error","message":"boom"}"#, "boom"),
            ("data: {\"error\":{\"message\":\"boom\"}}\n\n", "boom"),
            ("<html>\n  bad gateway</html>", "<html> bad gateway</html>"),
        ] {
            let sentence = explain(500, body);
            assert!(sentence.starts_with(&format!("the server answered 500: {expected}")), "{sentence}");
        }
        assert!(explain(418, "").starts_with("the server answered 418"));
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        for (status, said, remedy) in [
            (401, "Invalid API key", "--api-key"),
            (403, "", "DYNO_API_KEY"),
            (404, "The model `x` does not exist.", "--model"),
            (404, "Not Found", "--url"),
            (404, "there are GET /v1/models and GET /health", "--endpoint"),
            (404, "model 'llama9' not found", "--model"),
            (429, "slow down", "concurrency"),
            (503, "Loading model", "/health"),
            (400, "request (12031 tokens) exceeds the available context size (2048 tokens)", "-c"),
            (400, "This model's maximum context length is 2048 tokens.", "--max-model-len"),
            (400, "max_tokens=100000 cannot be greater than max_model_len=2048.", "--max-model-len"),
            (400, "Unrecognized request argument supplied: top_k", "--no-top-k"),
            (
                400,
                "the prompt is longer than the context length currently available",
                "OLLAMA_CONTEXT_LENGTH",
            ),
            (400, "\"llama3.2\" does not support thinking", "--no-thinking-switch"),
            (400, "invalid reasoning_effort", "--no-thinking-switch"),
            (422, "chat_template_kwargs: extra fields not permitted", "--no-thinking-switch"),
            (400, "Unknown name \"ignore_eos\": Cannot find field.", "--no-ignore-eos"),
        ] {
            let sentence = explain(status, said);
            assert!(sentence.contains(remedy), "{status} {said}: {sentence}");
        }
        assert_eq!(remedy(400, "the random seedling was wrong"), None);
    }

    #[test]
    fn a_quotation_is_one_line_and_short_whatever_it_is_made_of() {
        let quoted = quote(&"🦊\n".repeat(1000));
        assert!(quoted.len() < 500 && !quoted.contains('\n'));
        assert!(quote(&"🦊".repeat(1000)).len() < 500);
        assert_eq!(quote("<p>\u{1b}[2J\u{202e}x"), "<p> [2J x", "and no command to a terminal");
    }
}
