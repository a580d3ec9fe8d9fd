// What is wrong with the page for somebody on a phone, with a screen reader, or in the dark: a list of words.
(() => {
  const faults = [];
  const visible = (e) => e.checkVisibility() && e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, two) => {
    const [high, low] = [light(one), light(two)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };

  const width = document.documentElement.clientWidth; // innerWidth grows with what sticks out
  if (document.documentElement.scrollWidth > width) faults.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  for (const e of document.querySelectorAll("main *")) {
    const scrolls = e.closest(".scroll, .seg, .tabs");
    if (visible(e) && !scrolls && e.getBoundingClientRect().right > width + 1) faults.push(`sticks out: ${e.outerHTML.slice(0, 80)}`);
  }
  for (const e of document.querySelectorAll(".scroll, .seg, .tabs")) {
    if (width >= 1000 && e.scrollWidth > e.clientWidth) faults.push(`cut off on a desk: ${e.innerText.slice(0, 40)}`);
  }
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const e = words.currentNode.parentElement;
    if (!words.currentNode.data.trim() || !visible(e)) continue;
    const style = getComputedStyle(e);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const ratio = contrast(rgba(style.color), behind(e));
    if (ratio < (large ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: ${words.currentNode.data.trim().slice(0, 40)}`);
  }
  for (const e of document.querySelectorAll("input:not([type=hidden]), textarea, select")) {
    if (!visible(e)) continue;
    if (!e.labels.length && !e.getAttribute("aria-label")) faults.push(`no label: ${e.name || e.id}`);
    if (e.type !== "checkbox" && e.type !== "file") {
      const edge = contrast(rgba(getComputedStyle(e).borderTopColor), behind(e.parentElement));
      if (edge < 3) faults.push(`edge contrast ${edge.toFixed(2)}: ${e.name || e.id}`);
    }
  }
  for (const e of document.querySelectorAll("button, a.button, nav a")) {
    const box = e.getBoundingClientRect();
    if (visible(e) && !e.matches(".skip") && Math.min(box.width, box.height) < 24) faults.push(`small target: ${e.innerText}`);
  }
  for (const e of document.querySelectorAll("button, a")) {
    if (visible(e) && !(e.innerText.trim() || e.getAttribute("aria-label"))) faults.push(`nameless: ${e.outerHTML.slice(0, 80)}`);
  }
  for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) faults.push(`picture without words: ${e.src}`);
  for (const name of ["aria-labelledby", "aria-describedby"]) {
    for (const e of document.querySelectorAll(`[${name}]`)) {
      for (const id of e.getAttribute(name).split(" ")) if (!document.getElementById(id)) faults.push(`${name} leads nowhere: ${id}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids.filter((id, n) => ids.indexOf(id) !== n)) faults.push(`twice the id: ${id}`);
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
  let level = 1;
  for (const e of document.querySelectorAll("h1, h2, h3, h4")) {
    if (Number(e.tagName[1]) > level + 1) faults.push(`heading jumps: ${e.innerText}`);
    level = Number(e.tagName[1]);
  }
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
  if (!document.documentElement.lang) faults.push("no lang");
  for (const e of document.scripts) if (!/^\/static\/(passkeys|push)\.js$/.test(new URL(e.src || "data:,").pathname)) faults.push("a script");
  for (const e of performance.getEntriesByType("resource")) {
    if (new URL(e.name).origin !== location.origin) faults.push(`from elsewhere: ${e.name}`);
  }
  return JSON.stringify(faults);
})()
