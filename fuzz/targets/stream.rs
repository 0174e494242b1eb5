//! Any bytes as an event stream, and as a Message.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    offpeak_fuzz::upstream::stream(bytes);
});
