//! Texts from outside that must not repeat the key that we sent.
//!
//! A gateway's page, a proxy's error or a debug header may echo the request as
//! it is or in one of the usual spellings. Whoever answers has the key and may
//! spell it as he likes; what he makes up himself cannot be told from a text.

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use crate::answer::{Answer, StopReason};

use super::failure::{MAX_WORD, tidy};

/// What stands in a text where a secret stood.
const REDACTED: &str = "[redacted]";

/// How every key of the API begins; such a word is redacted even if it is none of ours.
const KEY_PREFIX: &str = "sk-ant-";

/// Fewer characters than this stand in a text by chance: a piece of a spelling, or the beginning of a secret.
const MIN_PIECE: usize = 8;

/// A way to write a secret.
type Spelling = Zeroizing<String>;

/// The text without this secret in any usual spelling, without any word that looks like a key, and without marks that
/// cannot be seen, which may stand inside one.
pub(crate) fn redact(text: &str, secret: &SecretString) -> String {
    let mut text: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    let secret = secret.expose_secret();
    for spelling in spellings(secret) {
        if text.contains(spelling.as_str()) {
            text = text.replace(spelling.as_str(), REDACTED);
        }
    }
    let text = without_escaped(&text, secret);
    without_key_words(without_beginning(&text, secret))
}

/// The answer with its words redacted; its text is what the user asked for and stays as it is, and so do the blocks that
/// must go back unchanged.
pub(super) fn redacted(answer: Answer, secret: &SecretString) -> Answer {
    let stop_reason = match answer.stop_reason {
        StopReason::Other(word) => StopReason::Other(redact(&word, secret)),
        known @ (StopReason::EndTurn
        | StopReason::StopSequence
        | StopReason::MaxTokens
        | StopReason::ContextWindowExceeded
        | StopReason::ToolUse
        | StopReason::PauseTurn
        | StopReason::Refusal) => known,
    };
    let lines = answer.tool_errors.iter();
    let tool_errors = lines.map(|line| tidy(&redact(line, secret), MAX_WORD));
    Answer {
        id: redact(&answer.id, secret),
        model: redact(&answer.model, secret),
        stop_reason,
        tool_errors: tool_errors.collect(),
        ..answer
    }
}

/// Marks that turn or hide text in a terminal.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The secret as it is, in a URL, in HTML, as the codes of JSON, and inside of Base64.
fn spellings(secret: &str) -> Vec<Spelling> {
    let escaped = |escape: &dyn Fn(char) -> Option<String>| {
        let each = secret
            .chars()
            .map(|c| escape(c).unwrap_or_else(|| c.to_string()));
        Zeroizing::new(each.collect())
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    let byte = |c: char| u32::from(c);
    let mut all = vec![
        Zeroizing::new(secret.to_owned()),
        escaped(&|c| (!is_plain(c)).then(|| format!("%{:02X}", byte(c)))),
        escaped(&|c| (!is_plain(c)).then(|| format!("%{:02x}", byte(c)))),
        escaped(&|c| Some(format!("%{:02X}", byte(c)))),
        escaped(&|c| Some(format!("%{:02x}", byte(c)))),
        escaped(&|c| html_entity(c).map(str::to_owned)),
        escaped(&|c| Some(format!("\\u{:04x}", byte(c)))),
        escaped(&|c| Some(format!("\\u{:04X}", byte(c)))),
    ];
    all.extend((0..3).map(|before| inside_base64(secret, before)));
    all.extend((0..3).map(|before| in_url(&inside_base64(secret, before))));
    let (first, rest) = all.split_at(1);
    let known = rest.iter().filter(|spelling| spelling.len() >= MIN_PIECE);
    first.iter().chain(known).cloned().collect()
}

const fn html_entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    }
}

/// What Base64 makes of the secret, wherever it stands in a longer text: the signs that depend on nothing beside it,
/// with so many bytes of three `before` it.
fn inside_base64(secret: &str, before: usize) -> Spelling {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = Zeroizing::new([&vec![0; before][..], secret.as_bytes()].concat());
    let sign = |at: usize| {
        // Six bits from here on, of the byte that holds the first and the one after it.
        let (byte, shift) = (at * 6 / 8, at * 6 % 8);
        let two =
            u16::from(bits[byte]) << 8 | bits.get(byte + 1).map_or(0, |&next| u16::from(next));
        char::from(SIGNS[usize::from(two >> (10 - shift) & 0x3f)])
    };
    let first = (before * 8).div_ceil(6);
    let end = bits.len() * 8 / 6;
    Zeroizing::new((first..end).map(sign).collect())
}

fn in_url(base64: &str) -> Spelling {
    Zeroizing::new(base64.replace('+', "-").replace('/', "_"))
}

/// The text without the secret where backslashes stand in it: JSON that is quoted in JSON has some more of them.
fn without_escaped(text: &str, secret: &str) -> String {
    let is_slash = |c: char| c == '\\';
    let secret: Spelling = Zeroizing::new(secret.replace(is_slash, ""));
    if secret.is_empty() || !text.contains(is_slash) {
        return text.to_owned();
    }
    let bare = text.replace(is_slash, "");
    // Where each byte of the bare text stands in the whole one.
    let places: Vec<usize> = (0..text.len())
        .filter(|&at| text.as_bytes()[at] != b'\\')
        .collect();
    let (mut clean, mut from) = (String::with_capacity(text.len()), 0);
    for (start, found) in bare.match_indices(secret.as_str()) {
        clean.push_str(&text[from..places[start]]);
        clean.push_str(REDACTED);
        from = places[start + found.len() - 1] + 1;
    }
    clean.push_str(&text[from..]);
    clean
}

/// The text without the beginning of a secret at its end, where it was cut.
fn without_beginning<'a>(text: &'a str, secret: &str) -> &'a str {
    let longest = (MIN_PIECE..secret.len()).rev();
    let mut pieces = longest.filter_map(|length| secret.get(..length));
    pieces
        .find_map(|piece| text.strip_suffix(piece))
        .unwrap_or(text)
}

fn without_key_words(text: &str) -> String {
    let (mut rest, mut clean) = (text, String::with_capacity(text.len()));
    while let Some(start) = rest.find(KEY_PREFIX) {
        clean.push_str(&rest[..start]);
        clean.push_str(REDACTED);
        let key = &rest[start..];
        let end = key.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        rest = &key[end.unwrap_or(key.len())..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str, secret: &str) -> String {
        redact(text, &SecretString::from(secret))
    }

    #[test]
    fn own_secret_and_every_word_like_a_key_are_redacted() {
        let cases = [
            ("bad key gateway-7.", "bad key [redacted]."),
            (
                "key sk-ant-api03-A_b-c, again sk-ant-x",
                "key [redacted], again [redacted]",
            ),
            ("nothing here", "nothing here"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text, "gateway-7"), expected);
        }
    }

    // Only the plain spelling was known.
    #[test]
    fn usual_spellings_of_a_secret_are_redacted() {
        let secret = r#"gate+way/7&"x~"#;
        let spelt = [
            r#"gate+way/7&"x~"#,
            "gate%2Bway%2F7%26%22x~",
            "gate%2bway%2f7%26%22x~",
            "gate+way/7&amp;&quot;x~",
            r#"gate+way/7&\"x~"#,
            r#"gate+way\/7&\"x~"#,
            r#"gate+way\\\/7&\\\"x~"#,
        ];
        for text in spelt {
            assert_eq!(
                clean(&format!("key={text};"), secret),
                "key=[redacted];",
                "{text}"
            );
        }
        let codes = "\\u0067\\u0061\\u0074\\u0065\\u0037\\u0037\\u0037\\u0037";
        assert_eq!(clean(codes, "gate7777"), REDACTED);
    }

    // `Basic` headers and debug pages hold a key in Base64, behind any number of other bytes.
    #[test]
    fn base64_of_a_secret_is_redacted_wherever_it_stands() {
        let secret = "gateway-7~~~";
        for (text, expected) in [
            ("Z2F0ZXdheS03fn5+", "[redacted]"),
            // Behind `:`, behind `u:`, and behind `Bearer ` in the alphabet for URLs.
            ("OmdhdGV3YXktN35+fg==", "Om[redacted]g=="),
            ("dTpnYXRld2F5LTd+fn4K", "dTp[redacted]4K"),
            ("QmVhcmVyIGdhdGV3YXktN35-fg==", "QmVhcmVyIG[redacted]g=="),
        ] {
            assert_eq!(clean(text, secret), expected);
        }
        assert_eq!(clean("Z2F0ZXdheQ==", secret), "Z2F0ZXdheQ==");
    }

    // Marks without a width were taken out after the search, which put the key together again.
    #[test]
    fn marks_that_cannot_be_seen_hide_no_secret() {
        assert_eq!(clean("gate\u{200b}way\u{ad}-7", "gateway-7"), REDACTED);
        assert_eq!(clean("sk-\u{2060}ant-x1", "gateway-7"), REDACTED);
    }

    #[test]
    fn beginning_of_a_secret_at_the_cut_is_redacted() {
        assert_eq!(clean("key gateway-7", "gateway-7-and-more"), "key ");
        assert_eq!(clean("key gateway", "gateway-7-and-more"), "key gateway");
    }

    #[test]
    fn spelling_of_a_short_secret_takes_nothing_else_out_of_a_text() {
        assert_eq!(
            clean("YW55 %61 any company", "an"),
            "YW55 %61 [redacted]y comp[redacted]y"
        );
    }

    #[test]
    fn words_of_an_answer_are_redacted_and_its_text_is_not() {
        let answer = Answer {
            id: "msg_gateway-7".to_owned(),
            model: "gateway-7".to_owned(),
            text: "gateway-7".to_owned(),
            stop_reason: StopReason::Other("no gateway-7".to_owned()),
            usage: None,
            paused: Some("[\"gateway-7\"]".to_owned()),
            tool_errors: vec!["web_search:\n no gateway-7".to_owned()],
        };
        let clean = redacted(answer, &SecretString::from("gateway-7"));
        assert_eq!(
            (clean.id.as_str(), clean.model.as_str()),
            ("msg_[redacted]", REDACTED)
        );
        assert_eq!(clean.stop_reason.as_str(), "no [redacted]");
        assert_eq!(clean.text, "gateway-7");
        assert_eq!(clean.paused.as_deref(), Some("[\"gateway-7\"]"));
        assert_eq!(clean.tool_errors, ["web_search: no [redacted]"]);
    }
}
