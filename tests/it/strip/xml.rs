//! A small checker: whether a text is one well-formed XML element.

/// Why a text is not well formed.
pub fn check(text: &str) -> Result<(), String> {
    if let Some(c) = text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    {
        return Err(format!("{c:?} cannot stand in XML"));
    }
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    let mut roots = 0;
    while let Some(start) = rest.find('<') {
        content(&rest[..start], &open)?;
        let end = rest[start..].find('>').ok_or("a tag without an end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes something else"));
            }
            continue;
        }
        roots += usize::from(open.is_empty());
        let inner = tag.strip_suffix('/').unwrap_or(tag);
        let name = inner
            .split_whitespace()
            .next()
            .ok_or("a tag without a name")?;
        attributes(&inner[name.len()..])?;
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    content(rest, &open)?;
    match (open.pop(), roots) {
        (Some(name), _) => Err(format!("<{name}> is never closed")),
        (None, 1) => Ok(()),
        (None, roots) => Err(format!("{roots} roots")),
    }
}

fn content(text: &str, open: &[&str]) -> Result<(), String> {
    if open.is_empty() && !text.trim().is_empty() {
        return Err(format!("{text:?} outside the root"));
    }
    entities(text)
}

fn entities(text: &str) -> Result<(), String> {
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        if !known.iter().any(|entity| part.starts_with(entity)) {
            return Err(format!("&{part:.8} is no entity"));
        }
    }
    Ok(())
}

fn attributes(text: &str) -> Result<(), String> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest
            .split_once('=')
            .ok_or(format!("{rest:?} is no attribute"))?;
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or(format!("{name} is not quoted"))?;
        let (value, after) = after[1..]
            .split_once(quote)
            .ok_or(format!("{name} has no end"))?;
        if value.contains('<') || names.contains(&name) {
            return Err(format!("{name} holds < or comes twice"));
        }
        entities(value)?;
        names.push(name);
        rest = after.trim_start();
    }
    Ok(())
}
