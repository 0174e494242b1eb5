"""Opens pages of `report --html` in a browser and says what is wrong with them."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZES = {"phone": (390, 844), "desk": (1280, 900)}
SCHEMES = ("light", "dark")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-sandbox",
]

# What the page says about itself; runs in the browser although the page itself may run nothing.
LOOK = """() => {
  const wrong = [];
  const seen = element => element.checkVisibility();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide and scrolls sideways`);
  if (!root.lang) wrong.push('no language');
  if (!document.title || document.title === 'taken') wrong.push(`title: ${document.title}`);
  if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) wrong.push(`heading of level ${next} after ${level}: ${heading.textContent}`);
    level = next;
  }
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
  for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) wrong.push(`two of #${id}`);
  for (const element of document.querySelectorAll('[aria-labelledby]'))
    for (const id of element.getAttribute('aria-labelledby').split(' '))
      if (!document.getElementById(id)?.textContent) wrong.push(`nothing is called #${id}`);
  if (document.querySelector('script, img, iframe, object')) wrong.push('something that a page may not hold');
  const pictures = [...document.querySelectorAll('svg[role=img]')];
  for (const picture of pictures) {
    const [title, words] = [picture.querySelector('title'), picture.querySelector('desc')];
    if (!title?.textContent || !words?.textContent) wrong.push('a picture without title or words');
  }
  for (const figure of document.querySelectorAll('figure')) {
    const shown = [...figure.querySelectorAll('svg[role=img]')].filter(seen);
    if (shown.length !== 1) wrong.push(`${shown.length} drawings of one picture are shown`);
    for (const picture of shown) {
      const [box, frame] = [picture.getBoundingClientRect(), picture.viewBox.baseVal];
      if (box.width < 200 || box.height < 60) wrong.push('a picture too small to see');
      const scale = box.width / frame.width;
      for (const text of picture.querySelectorAll('text')) {
        const size = parseFloat(getComputedStyle(text).fontSize) * scale;
        if (size < 11) wrong.push(`${text.textContent} is ${size.toFixed(1)} px`);
        const place = text.getBBox();
        if (place.x < -1 || place.x + place.width > frame.width + 1) wrong.push(`${text.textContent} is cut off`);
      }
      const texts = [...picture.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
      texts.forEach(([one, a], at) => {
        for (const [other, b] of texts.slice(at + 1))
          if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
            wrong.push(`${one} lies on ${other}`);
      });
    }
  }
  for (const element of document.querySelectorAll('p, li, dd, dt, td, th, caption, summary')) {
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (seen(element) && size < 11) wrong.push(`${element.tagName} of ${size} px`);
  }
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption?.textContent) wrong.push('a table without a caption');
    const box = table.closest('.scroll');
    if (!box || box.tabIndex !== 0 || box.getAttribute('role') !== 'region') wrong.push('a table outside its box');
    if (!table.querySelector('th[scope=row]') || !table.querySelector('th[scope=col]')) wrong.push('cells without heads');
  }
  return wrong;
}"""

# The boxes that must be reached: every table that is open and every picture wider than its window.
BOXES = """() => [...document.querySelectorAll('.scroll, .picture[tabindex]')].filter(box => box.checkVisibility())
  .map(box => box.getAttribute('aria-labelledby') || box.getAttribute('aria-label'))"""

FOCUSED = """() => {
  const box = document.activeElement;
  if (!box || box === document.body) return null;
  const rim = getComputedStyle(box);
  return { name: box.getAttribute('aria-labelledby') || box.getAttribute('aria-label') || box.tagName,
           rim: rim.outlineStyle !== 'none' && parseFloat(rim.outlineWidth) >= 2,
           room: box.scrollWidth - box.clientWidth };
}"""


def scrolls(page):
    """Whether the box with the focus moves within a second: browsers scroll smoothly."""
    for _ in range(20):
        if page.evaluate("document.activeElement.scrollLeft") > 0:
            return True
        page.wait_for_timeout(50)
    return False


def keyboard(page):
    """Tabs through the page: every box is reached, shows that it is, and scrolls by the arrow keys."""
    wrong, reached = [], set()
    expected = set(page.evaluate(BOXES))
    for _ in range(len(expected) + 20):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            break
        reached.add(focused["name"])
        if not focused["rim"]:
            wrong.append(f"{focused['name']} does not show its focus")
        if focused["room"] > 5 and focused["name"] in expected:
            page.keyboard.press("ArrowRight")
            if not scrolls(page):
                wrong.append(f"{focused['name']} does not scroll by its keys")
    return wrong + [f"the keyboard does not reach {name}" for name in sorted(expected - reached)]


def look(browser, path, shots):
    wrong = []
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            said = []
            page.on("console", lambda message, said=said: said.append(f"console: {message.text}"))
            page.on("pageerror", lambda error, said=said: said.append(f"error: {error}"))
            page.on("dialog", lambda dialog, said=said: (said.append("a dialog"), dialog.dismiss()))
            page.on(
                "request",
                lambda request, said=said: request.url.startswith(("file:", "data:")) or said.append(f"asks {request.url}"),
            )
            page.goto(path.resolve().as_uri())
            said += page.evaluate(LOOK)
            page.screenshot(path=shots / f"{path.stem}-{size}-{scheme}.png", full_page=True)
            said += keyboard(page)
            # What is folded away must hold its place too.
            page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
            said += page.evaluate(LOOK)
            wrong += [f"{path.name}, {size}, {scheme}: {what}" for what in dict.fromkeys(said)]
            context.close()
    return wrong


def main():
    browser_path, shots, *pages = sys.argv[1:]
    shots = Path(shots)
    shots.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        wrong = [what for page in pages for what in look(browser, Path(page), shots)]
        browser.close()
    for what in wrong:
        print(what)
    print(f"{len(pages)} pages, {len(SIZES)} sizes, {len(SCHEMES)} colour schemes: {len(wrong)} faults; pictures in {shots}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
