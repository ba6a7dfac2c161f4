//! How known engines are started.

/// How one engine is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The engine's name, as in shards.
    pub engine: &'static str,
    /// Its program, looked for on PATH where no other is named.
    pub binary: &'static str,
    /// What follows the program.
    pub arguments: &'static str,
}

/// Every engine that can be started by its name.
pub const KNOWN: [Known; 5] = [
    Known {
        engine: "llama.cpp",
        binary: "llama-server",
        arguments: "-m {model} --host 127.0.0.1 --port {port} --metrics --slots --props --no-webui --offline {flags}",
    },
    Known {
        engine: "vllm",
        binary: "vllm",
        arguments: "serve {model} --host 127.0.0.1 --port {port} {flags}",
    },
    Known {
        engine: "sglang",
        binary: "python3",
        arguments: "-m sglang.launch_server --model-path {model} --host 127.0.0.1 --port {port} --enable-metrics {flags}",
    },
    Known { engine: "freetoken", binary: "ft", arguments: "serve --model {model} --port {port} {flags}" },
    Known {
        engine: "tensorrt-llm",
        binary: "trtllm-serve",
        arguments: "{model} --host 127.0.0.1 --port {port} {flags}",
    },
];

impl Known {
    /// The one of a name, whatever its case and punctuation.
    pub fn find(name: &str) -> Option<&'static Self> {
        let plain = |name: &str| {
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
        };
        KNOWN.iter().find(|known| plain(known.engine) == plain(name))
    }

    /// Names, for a message.
    pub fn names() -> String {
        KNOWN.map(|known| known.engine).join(", ")
    }

    /// The line to start it with, by this program or its usual one.
    pub fn line(&self, binary: Option<&str>) -> String {
        format!("{} {}", super::quoted(binary.unwrap_or(self.binary)), self.arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::template::Template;
    use super::*;

    #[test]
    fn every_line_is_a_template_that_takes_model_port_and_flags() {
        for known in KNOWN {
            let template = Template::parse(&known.line(Some("/opt/my engine/bin"))).unwrap();
            assert_eq!(template.names(), ["flags", "model", "port"], "{}", known.engine);
            assert_eq!(Known::find(&known.engine.to_uppercase()).map(|k| k.engine), Some(known.engine));
        }
        assert_eq!(Known::find("llama-cpp").map(|known| known.engine), Some("llama.cpp"));
        assert_eq!(Known::find("nonsense"), None);
    }
}
