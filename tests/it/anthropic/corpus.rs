//! The corpus of the upstream's fuzz targets, replayed and changed at random through the same checks.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::scenario::repository;

#[path = "../../../fuzz/targets/upstream.rs"]
mod upstream;

/// What a fuzz target does with bytes.
type Check = fn(&[u8]);

const TARGETS: [(&str, Check); 2] = [("stream", upstream::stream), ("refusal", upstream::refusal)];

/// The inputs of one fuzz target, in order.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = repository().join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{target}");
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn every_input_of_the_corpus_holds() {
    for (target, check) in TARGETS {
        for input in corpus(target) {
            check(&input);
        }
    }
}

/// One change of an input: where, how many bytes go, and what comes.
type Change = (prop::sample::Index, usize, Vec<u8>);

fn change() -> impl Strategy<Value = Change> {
    let signs = b"{}[]:,\"\\ \n\r0129aetx\0\xc3\xa9\xe2\x80\xa8\xff".to_vec();
    let bytes = vec(prop::sample::select(signs), 0..5);
    (any::<prop::sample::Index>(), 0..8_usize, bytes)
}

proptest! {
    #[test]
    fn every_change_of_the_corpus_holds(
        (target, check) in prop::sample::select(TARGETS.to_vec()),
        which in any::<prop::sample::Index>(),
        changes in vec(change(), 0..4),
    ) {
        let inputs = corpus(target);
        let mut bytes = which.get(&inputs).clone();
        for (at, gone, new) in changes {
            let start = at.index(bytes.len() + 1);
            let end = (start + gone).min(bytes.len());
            bytes.splice(start..end, new);
        }
        check(&bytes);
    }
}
