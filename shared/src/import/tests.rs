use super::*;

fn error(text: &str) -> String {
    read(text, None).unwrap_err().to_string()
}

#[test]
fn what_is_no_result_file_is_told_apart_with_what_to_do() {
    assert_eq!(read("", None), Err(ImportError::Empty));
    assert_eq!(read("\u{feff} \n\0", None), Err(ImportError::Empty));
    assert!(error("hello").contains("holds no JSON object"));
    assert!(error(r#"{"colour": 3, "mood": 4}"#).contains("keys `colour`, `mood`"));
    assert!(read("{}", Some("nonsense")).unwrap_err().to_string().contains("no format is called `nonsense`"));
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_so_and_is_never_read_in_part() {
    let whole = "{\"a\": [1, 2],\n\"b\": {\"c\": \"d\"}}";
    for cut in 1..whole.len() {
        let found = read(&whole[..cut], None).unwrap_err();
        assert!(matches!(found, ImportError::NotJson { truncated: true, .. }), "{cut}: {found}");
    }
    let lines = "{\"a\": 1}\n{\"a\": 2}\n{\"a\":";
    assert!(matches!(read(lines, None), Err(ImportError::NotJson { line: 3, truncated: true, .. })));
    assert!(matches!(
        read("{\"a\": nope}", None),
        Err(ImportError::NotJson { line: 1, truncated: false, .. })
    ));
}

#[test]
fn our_own_shard_is_opened_like_any_other_file_and_its_faults_keep_their_words() {
    let shard =
        r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw"}}"#;
    let found = read(shard, None).unwrap();
    assert_eq!((found.format, found.submissions.len()), (SHARD, 1));
    assert!(error(&shard.replace("1.0", "2.0")).starts_with("written by a newer dyno"));
}

#[test]
fn text_in_other_encodings_is_read_or_said_to_be_none() {
    let text = "{\"é\": \"🚀\"}";
    for (bom, bytes) in [
        ([0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
        ([0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
    ] {
        let bytes = [&bom[..], &bytes].concat();
        assert_eq!(decode(&bytes).unwrap().trim_start_matches('\u{feff}'), text);
        assert!(matches!(decode(&bytes[..bytes.len() - 1]), Err(ImportError::NotText { .. })));
    }
    assert_eq!(decode(b"{\"a\xff\": 1}"), Err(ImportError::NotText { at: 3 }));
    assert_eq!(decode(&[0xff, 0xfe, 0x00, 0xd8, b'a', 0]), Err(ImportError::NotText { at: 2 }));
}

#[test]
fn words_that_are_no_json_are_mended_outside_of_texts_alone() {
    let mended = document::mend(r#"{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN \" Infinity"}"#);
    assert_eq!(mended, r#"{"a": null, "b": ["inf", "-inf"], "c": "NaN \" Infinity"}"#);
    let document = Document::of("", &mended);
    let whole = document.only().unwrap();
    assert_eq!(whole.number("a"), Ok(None));
    assert_eq!(whole.numbers("b"), Ok(Some(vec![None, None])));
}

#[test]
fn lines_around_the_json_are_passed_over_and_counted() {
    let text = "ggml_cuda_init: found 1 device\n[INFO] warm\n[\n {\"a\": 1}\n]\nbye\n";
    let document = Document::of(text, text);
    assert_eq!(document.rows().len(), 1);
    assert_eq!(document.notes(), ["3 lines that are no JSON were passed over"]);
    let lines = "{\"a\": 1}\n\n{\"a\": 2}\r\n";
    assert_eq!(Document::of(lines, lines).rows().len(), 2);
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_path() {
    let text = r#"{"runs": [{"ttft": 1}, {"ttft": "fast", "n": "12", "x": 1.5, "list": [1, true]}]}"#;
    let document = Document::of(text, text);
    let runs = document.only().unwrap().list("runs").unwrap();
    let said = |problem: Problem| problem.to_string();
    assert!(
        said(runs[1].number("ttft").unwrap_err())
            .starts_with("runs[1].ttft: is not a number but the text `fast`")
    );
    assert!(said(runs[1].need_number("tokens").unwrap_err()).starts_with("runs[1].tokens: is missing"));
    assert!(
        said(runs[1].numbers("list").unwrap_err())
            .starts_with("runs[1].list[1]: is not a number but true or false")
    );
    assert!(said(runs[1].count("x").unwrap_err()).starts_with("runs[1].x: is not a whole number"));
    assert_eq!(runs[1].count("n"), Ok(Some(12)));
    assert_eq!(runs[0].count("n"), Ok(None));
}

#[test]
fn the_page_of_formats_has_a_row_for_each_of_them_in_order_and_no_other() {
    let page = include_str!("../../../docs/FORMATS.md");
    let table = page.split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<String> = rows.map(|row| row.split('|').skip(1).take(2).collect()).collect();
    let formats: Vec<String> =
        FORMATS.iter().map(|format| format!(" `{}`  {} ", format.tag, format.title)).collect();
    assert_eq!(rows, formats);
}

/// The fixtures of a format.
fn files(format: &Format) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/import");
    let files = std::fs::read_dir(format!("{folder}/{}", format.tag.replace('.', "-"))).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn every_file_of_the_fixtures_is_recognised_as_its_own_format_and_no_other() {
    for format in FORMATS {
        assert!(!files(format).is_empty(), "{} has no file", format.tag);
        for text in files(format) {
            let mended = document::mend(&text);
            let document = Document::of(&text, &mended);
            let by: Vec<&str> = FORMATS.iter().filter(|f| (f.recognises)(&document)).map(|f| f.tag).collect();
            assert_eq!(by, [format.tag]);
        }
    }
}

#[test]
fn a_fixture_that_is_cut_off_or_has_values_of_another_kind_is_an_error_or_a_shard_and_never_a_panic() {
    const SPOILT: [(&str, &str); 7] = [
        (": ", ": null, \"x\": "),
        ("1", "\"1\""),
        ("[", "[[], "),
        ("1", "-1"),
        ("0", "1e300"),
        ("{", "{\"a\": "),
        ("\": \"", "\": [\"é"),
    ];
    for format in FORMATS {
        for text in files(format) {
            let cuts = (0..text.len()).step_by(text.len() / 20 + 1);
            for cut in cuts.filter(|cut| text.is_char_boundary(*cut)) {
                let _ = read(&text[..cut], Some(format.tag));
            }
            for (from, to) in SPOILT {
                let _ = read(&text.replace(from, to), Some(format.tag));
            }
        }
    }
}
