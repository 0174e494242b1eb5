//! Line ends, comments, marks, limits, and every way to cut the bytes.

use proptest::prelude::*;

use super::*;

/// The payloads of a stream that arrives in these chunks.
fn payloads<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut stream = EventStream::new(1 << 20);
    let mut found = Vec::new();
    for chunk in chunks {
        stream
            .feed(chunk, |data| {
                found.push(String::from_utf8_lossy(data).into_owned());
            })
            .unwrap();
    }
    found
}

fn whole(bytes: &str) -> Vec<String> {
    payloads([bytes.as_bytes()])
}

fn byte_by_byte(bytes: &str) -> Vec<String> {
    payloads(bytes.as_bytes().chunks(1))
}

#[test]
fn every_line_end_closes_an_event_and_nothing_else_does() {
    let cases: [(&str, &[&str]); 12] = [
        ("data: a\n\ndata: b\n\n", &["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\r\rdata: b\r\r", &["a", "b"]),
        ("data: a\r\n\ndata: b\n\r\n", &["a", "b"]),
        (
            "data: a\u{2028}b\u{2029}c\u{85}d\n\n",
            &["a\u{2028}b\u{2029}c\u{85}d"],
        ),
        ("data: a\ndata: b\n\n", &["a\nb"]),
        ("data:a\ndata:  b\n\n", &["a\n b"]),
        ("data\n\n", &[""]),
        ("data\ndata\n\n", &["\n"]),
        (": ping\n\n:\n\nevent: x\n\n", &[]),
        (
            "event: x\nid: 7\nretry: 5\ndatum: no\ndata: yes\n\n",
            &["yes"],
        ),
        ("data: a\n\ndata: lost\n", &["a"]),
    ];
    for (bytes, expected) in cases {
        assert_eq!(whole(bytes), expected, "{bytes:?}");
        assert_eq!(byte_by_byte(bytes), expected, "{bytes:?} byte by byte");
    }
}

#[test]
fn byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(whole("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
    assert_eq!(
        byte_by_byte("\u{feff}data: a\n\n\u{feff}data: b\n\n"),
        ["a"]
    );
}

#[test]
fn false_start_of_a_mark_is_kept_as_text() {
    let bytes: [&[u8]; 3] = [&[0xEF], &[0xBB], b"data: a\n\ndata: b\n\n"];
    assert_eq!(payloads(bytes), ["b"], "the first line is no data line");
}

#[test]
fn event_over_the_limit_is_an_error_however_it_is_cut() {
    for size in [1, 7, 34] {
        let mut stream = EventStream::new(20);
        let bytes = b"data: 0123456789\ndata: 0123456789\n\n";
        let result = bytes
            .chunks(size)
            .try_for_each(|chunk| stream.feed(chunk, |_| ()));
        assert_eq!(
            result,
            Err(EventTooLarge { max_event: 20 }),
            "chunks of {size}"
        );
    }
}

#[test]
fn many_small_events_stay_under_the_limit() {
    let mut stream = EventStream::new(20);
    let mut found = 0;
    for _ in 0..1_000 {
        stream.feed(b"data: 012345\n\n", |_| found += 1).unwrap();
    }
    assert_eq!(found, 1_000);
}

/// Pieces that make line ends, fields, comments and characters of several bytes meet in every way.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "data: ", "data:", "data", "event: x", ": note", "\n", "\n\n", "\r", "\r\n", "\r\r", "{}",
        "語", "\u{2028}", "a b", " ", "\u{feff}",
    ])
}

proptest! {
    #[test]
    fn cutting_the_bytes_elsewhere_changes_nothing(
        pieces in prop::collection::vec(piece(), 0..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = pieces.concat().into_bytes();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut start = 0;
        let chunks: Vec<&[u8]> = ends.iter().map(|&end| {
            let chunk = &bytes[start..end];
            start = end;
            chunk
        }).collect();
        let expected = payloads([bytes.as_slice()]);
        prop_assert_eq!(payloads(chunks), expected.clone());
        prop_assert_eq!(payloads(bytes.chunks(1)), expected);
    }
}
