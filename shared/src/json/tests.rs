use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The tree that `serde_json` makes, made of what we read.
fn tree(input: &mut Input<'_>) -> Result<Value, Wrong> {
    Ok(match input.peek() {
        b'{' => {
            let mut members = serde_json::Map::new();
            input.object(&mut |name, input| {
                members.insert(name.to_owned(), tree(input)?);
                Ok(())
            })?;
            Value::Object(members)
        }
        b'[' => {
            let mut elements = Vec::new();
            input.list(&mut |input| {
                elements.push(tree(input)?);
                Ok(())
            })?;
            Value::Array(elements)
        }
        b'"' => Value::String(input.string()?.into_owned()),
        b't' | b'f' => Value::Bool(input.flag()?),
        b'n' => input.null().map(|_| Value::Null)?,
        _ => match input.number()? {
            Number::Whole(n) => n.into(),
            Number::Real(x) => x.into(),
        },
    })
}

fn ours(text: &str) -> Option<Value> {
    let mut input = Input::new(text);
    let value = tree(&mut input).and_then(|value| input.end().map(|()| value)).ok();
    let mut again = Input::new(text);
    assert_eq!(again.skip().and_then(|()| again.end()).is_ok(), value.is_some(), "skipping {text:?}");
    value
}

/// `serde_json` rounds some numbers to the second nearest float and tells `-1` from `-1.0`. Which float a number is, is
/// tested beside `Decimal`.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || (a - b).abs() <= 1e-15 * a.abs()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => ours == theirs,
    }
}

fn compare(text: &str) {
    let theirs = serde_json::from_str::<Value>(text).ok();
    match (ours(text), &theirs) {
        (Some(ours), Some(theirs)) => assert!(same(&ours, theirs), "{text:?}: {ours} and {theirs}"),
        (None, None) => {}
        (ours, theirs) => panic!("{text:?}: {ours:?} and {theirs:?}"),
    }
}

#[test]
fn what_is_json_and_what_is_not_is_what_serde_json_says() {
    for text in [
        "",
        " ",
        "nul",
        "null",
        "nulll",
        "true",
        "falsee",
        "[",
        "[]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1}{",
        "01",
        "-",
        "-0",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1E-2",
        "+1",
        "1e999",
        "-1e999",
        "1e-999",
        "0e5",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude80\"",
        "\"\\ud83d\"",
        "\"\\ud83dx\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ude80\"",
        "\"\t\"",
        "\"\u{7f}é🚀\"",
        "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"",
        "\u{feff}1",
        "[1]\u{a0}",
        " [ 1 , 2 ] ",
        "{\"a\":1,\"a\":2}",
        "18446744073709551616",
        "-9223372036854775808",
        "\"\\u0000\"",
        "\"\0\"",
        "[\0]",
    ] {
        compare(text);
    }
    for deep in [126, 127, 128, 100_000] {
        compare(&format!("{}{}", "[".repeat(deep), "]".repeat(deep)));
        compare(&"{\"a\":".repeat(deep));
    }
}

#[test]
fn an_error_says_what_was_expected_and_what_is_there() {
    let message = |text: &str| {
        let mut input = Input::new(text);
        let wrong = input.string().unwrap_err();
        (wrong.message(), wrong.at())
    };
    assert_eq!(message(" [1]"), ("expected a text, found a list".to_owned(), 1));
    assert_eq!(message("-1.5,"), ("expected a text, found -1.5".to_owned(), 0));
    assert_eq!(message("\"ab"), ("expected `\"` at the end of a text, and the text ends".to_owned(), 3));
    assert_eq!(message("]").0, "expected a value, and something else stands there");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_shard_with_a_few_bytes_changed_is_read_as_serde_json_reads_it(
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), "[-\\[\\]{}:,\"\\\\0-9a-fu.eE \n\u{1}é]{0,3}"), 0..4),
    ) {
        let mut text = r#"{"schema":"dyno/1.0","a":[1,-2.5e-3,null,true,{"é\n\u00e9":"\ud83d\ude80"}],"b":{"c":false,"d":1e9},"e":""}"#.to_owned();
        for (place, other) in edits {
            let at = place.index(text.len() + 1);
            if text.is_char_boundary(at) {
                let end = (at + 1..text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(at);
                text.replace_range(at..end, &other);
            }
        }
        compare(&text);
    }
}
