//! Whether the colours of `style.css` can be told from what they lie on, by the formula of WCAG 2.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("style.css");

type Palette = BTreeMap<&'static str, [f64; 3]>;

/// The colours of the first `:root` behind this text.
fn palette(behind: &str) -> Palette {
    let (_, rest) = STYLE.split_once(behind).unwrap();
    let (_, rest) = rest.split_once(":root{").unwrap();
    let (inside, _) = rest.split_once('}').unwrap();
    let colours = inside.split(';').filter_map(|pair| pair.split_once(':'));
    colours
        .map(|(name, colour)| (name.trim().trim_start_matches("--"), channels(colour)))
        .collect()
}

/// Red, green and blue as shares of light.
fn channels(colour: &str) -> [f64; 3] {
    let digits = colour.strip_prefix('#').unwrap();
    assert_eq!(digits.len(), 6, "{colour}");
    [0, 2, 4].map(|at| {
        let share = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
        if share <= 0.040_45 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn luminance([red, green, blue]: [f64; 3]) -> f64 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let [one, other] = [one, other].map(|it| luminance(it) + 0.05);
    one.max(other) / one.min(other)
}

fn palettes() -> [(&'static str, Palette); 2] {
    [
        ("light", palette("")),
        ("dark", palette("prefers-color-scheme:dark")),
    ]
}

/// Fails on each of these colours that is too near to one of the grounds.
fn all_reach(least: f64, colours: &[&str], grounds: &[&str]) {
    for (scheme, palette) in palettes() {
        for colour in colours {
            for ground in grounds {
                let ratio = contrast(palette[colour], palette[ground]);
                assert!(
                    ratio >= least,
                    "{scheme}: {colour} on {ground} is {ratio:.2}, not {least}"
                );
            }
        }
    }
}

#[test]
fn formula_gives_the_known_ratios() {
    let [white, black, grey] = ["#ffffff", "#000000", "#767676"].map(channels);
    assert!((contrast(white, black) - 21.0).abs() < 1e-9);
    assert!((contrast(white, grey) - 4.54).abs() < 0.01);
    assert!((contrast(grey, grey) - 1.0).abs() < 1e-9);
}

#[test]
fn both_schemes_have_the_same_colours() {
    let [(_, light), (_, dark)] = palettes();
    assert!(light.keys().eq(dark.keys()), "{light:?} {dark:?}");
    for name in light.keys() {
        assert!(
            STYLE.contains(&format!("var(--{name})")),
            "--{name} colours nothing"
        );
    }
}

#[test]
fn every_text_can_be_read_on_its_ground() {
    all_reach(4.5, &["text", "soft"], &["bg", "card"]);
}

#[test]
fn every_mark_can_be_seen_on_its_ground() {
    all_reach(
        3.0,
        &[
            "p50", "p95", "p99", "whole", "waste", "yields", "axis", "focus",
        ],
        &["bg"],
    );
    all_reach(
        3.0,
        &["dot", "cross"],
        &["bg", "peak-ground", "peak-line", "part-ground", "part-line"],
    );
    all_reach(3.0, &["waste"], &["waste-ground"]);
}

/// Where one ends and the other begins is seen without colours too.
#[test]
fn waste_is_told_from_what_was_answered_below_it() {
    all_reach(3.0, &["whole"], &["waste-ground"]);
}
