//! Bars and sparklines in block characters.

/// A bar of at most `width` columns, in eighths; what is above nothing shows at least one eighth.
pub(super) fn bar(value: u128, most: u128, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most == 0 || value == 0 {
        return String::new();
    }
    let eighths = (value.min(most) * width as u128 * 8 / most).max(1);
    let eighths = usize::try_from(eighths).unwrap_or(width * 8);
    let rest = PARTS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(eighths / 8))
}

/// One character a value; a dot where there is none.
pub(super) fn sparkline(values: &[Option<u128>]) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values
        .iter()
        .flatten()
        .copied()
        .max()
        .unwrap_or_default()
        .max(1);
    let step = |value: u128| {
        let at = usize::try_from(value * 8 / most).unwrap_or(7).min(7);
        STEPS.get(at).copied().unwrap_or('█')
    };
    values.iter().map(|value| value.map_or('·', step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_is_in_proportion_and_never_wider_than_asked() {
        assert_eq!(bar(8, 8, 4), "████");
        assert_eq!(bar(4, 8, 4), "██");
        assert_eq!(bar(5, 8, 4), "██▌");
        assert_eq!(bar(1, 1000, 4), "▏", "little is not nothing");
        assert_eq!(bar(0, 8, 4), "");
        assert_eq!(bar(9, 0, 4), "");
        assert_eq!(bar(9, 8, 4), "████");
    }

    #[test]
    fn sparkline_tells_nothing_from_little() {
        assert_eq!(sparkline(&[None, Some(0), Some(50), Some(100)]), "·▁▅█");
        assert_eq!(sparkline(&[None, None]), "··");
        assert_eq!(sparkline(&[Some(0)]), "▁");
    }
}
