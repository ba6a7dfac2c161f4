//! What the file name of a GGUF says: the model and its quantisation, by the naming convention of the format.

/// Words that name a quantisation or a number format as a whole.
const WHOLE_WORDS: [&str; 7] = ["F16", "F32", "FP16", "BF16", "MXFP4", "NVFP4", "MXFP4_MOE"];

/// The model's name and its quantisation. `…/SmolLM2-135M-Instruct.Q4_1.gguf` → `SmolLM2-135M-Instruct`, `Q4_1`.
pub(super) fn read(file_name: &str) -> (String, Option<String>) {
    let stem = strip_suffix_ignoring_case(file_name, ".gguf");
    let stem = without_part_number(stem);
    let Some((name, last)) = stem.rsplit_once(['.', '-']) else { return (stem.to_owned(), None) };
    if !is_quantisation(last) || name.is_empty() {
        return (stem.to_owned(), None);
    }
    // Unsloth's dynamic quantisations: `…-UD-Q4_K_XL`.
    match strip_suffix_ignoring_case(name, "-UD") {
        shorter if shorter.len() < name.len() => {
            (shorter.to_owned(), Some(format!("UD-{}", last.to_uppercase())))
        }
        _ => (name.to_owned(), Some(last.to_uppercase())),
    }
}

/// Quantisation from llama.cpp's words for a file type: `Q4_K - Medium` → `Q4_K_M`.
pub(super) fn from_ftype(ftype: &str) -> Option<String> {
    let ftype = ftype.trim().trim_start_matches("(guessed)").trim();
    let (kind, size) = ftype.split_once(" - ").unwrap_or((ftype, ""));
    let kind = kind.split_whitespace().next().filter(|kind| is_quantisation(kind))?;
    Some(match size {
        "Small" => format!("{kind}_S"),
        "Medium" => format!("{kind}_M"),
        "Large" => format!("{kind}_L"),
        _ => kind.to_owned(),
    })
}

/// `Q4_1`, `IQ2_XXS`, `TQ1_0`, `F16`, ….
fn is_quantisation(word: &str) -> bool {
    let upper = word.to_uppercase();
    let digits = ["IQ", "TQ", "Q"].iter().find_map(|prefix| upper.strip_prefix(prefix));
    WHOLE_WORDS.contains(&upper.as_str())
        || digits.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit())
                && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
}

/// The stem without `-00001-of-00003`.
fn without_part_number(stem: &str) -> &str {
    let number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((rest, total)) = stem.rsplit_once("-of-") else { return stem };
    match rest.rsplit_once('-') {
        Some((name, part)) if number(total) && number(part) => name,
        _ => stem,
    }
}

fn strip_suffix_ignoring_case<'a>(text: &'a str, suffix: &str) -> &'a str {
    let cut = text.len().saturating_sub(suffix.len());
    match (text.get(..cut), text.get(cut..)) {
        (Some(rest), Some(end)) if end.eq_ignore_ascii_case(suffix) => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_quantisations_come_apart() {
        for (file, name, quantisation) in [
            ("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct", Some("Q4_1")),
            ("Qwen3-8B-Q4_K_M.gguf", "Qwen3-8B", Some("Q4_K_M")),
            ("qwen3-8b-q4_k_m.GGUF", "qwen3-8b", Some("Q4_K_M")),
            ("Qwen3-30B-A3B-UD-Q4_K_XL.gguf", "Qwen3-30B-A3B", Some("UD-Q4_K_XL")),
            ("Llama-3.1-70B-IQ2_XXS-00001-of-00003.gguf", "Llama-3.1-70B", Some("IQ2_XXS")),
            ("gpt-oss-20b-mxfp4.gguf", "gpt-oss-20b", Some("MXFP4")),
            ("model-f16.gguf", "model", Some("F16")),
            ("Qwen3-8B.gguf", "Qwen3-8B", None),
            ("weights.bin", "weights.bin", None),
            ("größe-Ω.gguf", "größe-Ω", None),
            ("Ω", "Ω", None),
            ("", "", None),
        ] {
            assert_eq!(read(file), (name.to_owned(), quantisation.map(ToOwned::to_owned)), "{file}");
        }
    }

    #[test]
    fn file_types_are_named_as_people_name_them() {
        for (ftype, quantisation) in [
            ("Q4_1", Some("Q4_1")),
            ("Q4_K - Medium", Some("Q4_K_M")),
            ("(guessed) Q4_K - Small", Some("Q4_K_S")),
            ("IQ4_XS - 4.25 bpw", Some("IQ4_XS")),
            ("MXFP4 MoE", Some("MXFP4")),
            ("all F32", None),
            ("unknown, may not work", None),
            ("", None),
        ] {
            assert_eq!(from_ftype(ftype).as_deref(), quantisation, "{ftype}");
        }
    }
}
