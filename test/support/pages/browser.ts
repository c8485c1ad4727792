import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { programPath } from "../stack/programs.ts";

/** Debian's Chromium without a window. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: programPath("chromium"), args: ["--no-sandbox"] });
}

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** An open page, and what went wrong in it. */
export interface OpenPage {
  readonly page: Page;
  /** Errors of the script and of the console, such as violations of the content security policy. */
  readonly errors: readonly string[];
  /** Requests to other servers than its own. */
  readonly outside: readonly string[];
  readonly close: () => Promise<void>;
}

/** Opens a URL in a new context. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const outside: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) outside.push(request.url());
  });
  await page.goto(url);
  return { page, errors, outside, close: () => context.close() };
}

/** Waits until the page has received an update. */
export async function untilLive(page: Page): Promise<void> {
  await page.getByText("● Live.").waitFor();
}

/** Pixels by which the page is wider than the window. */
export async function overflow(page: Page): Promise<number> {
  return Number(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
  );
}

/** Texts whose contrast with their background is below 4.5 (WCAG 2.1, 1.4.3), with the contrast. */
export async function lowContrast(page: Page): Promise<readonly string[]> {
  return String(await page.evaluate(LOW_CONTRAST))
    .split("\n")
    .filter((text) => text !== "");
}

const LOW_CONTRAST = `(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = parse(getComputedStyle(at).backgroundColor);
      if (alpha === 1 && r !== undefined) return [r, g, b];
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const text = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join("");
    if (text === "" || ["SCRIPT", "STYLE", "OPTION"].includes(node.nodeName) || node.getClientRects().length === 0) continue;
    const style = getComputedStyle(node);
    const [a, b] = [parse(node instanceof SVGElement ? style.fill : style.color), behind(node)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(ratio.toFixed(2) + " " + text.slice(0, 40));
  }
  return found.join("\\n");
})()`;

/** Violations of axe-core's rules (WCAG A and AA, and its best practices), each with its rule and first element. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return String(await page.evaluate(AXE))
    .split("\n")
    .filter((text) => text !== "");
}

const AXE = `axe.run().then(({ violations }) => violations
  .map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.length + " times, first " + nodes[0].html.slice(0, 200))
  .join("\\n"))`;

/** Numbers that are on more than one line. */
export async function brokenNumbers(page: Page): Promise<readonly string[]> {
  return String(await page.evaluate(BROKEN_NUMBERS))
    .split("\n")
    .filter((text) => text !== "");
}

const BROKEN_NUMBERS = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("script, style, code")) continue;
    for (const { 0: number, index } of node.data.matchAll(/\\d[\\d,.\\u2009\\u202f]*\\d/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + number.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(number);
    }
  }
  return found.join("\\n");
})()`;

/** The elements that Tab reaches, by id or text, in order. */
export async function tabOrder(page: Page, count: number): Promise<readonly string[]> {
  const reached: string[] = [];
  for (let index = 0; index < count; index += 1) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(
      "document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()",
    );
    reached.push(String(name));
  }
  return reached;
}

/** Texts that overlap each other or leave their card, as pairs of words. */
export async function overlaps(page: Page): Promise<readonly string[]> {
  return String(await page.evaluate(OVERLAPS))
    .split("\n")
    .filter((text) => text !== "");
}

const OVERLAPS = `(() => {
  const boxes = [];
  const cutAt = (node) => {
    for (let at = node; at; at = at.parentElement)
      if (getComputedStyle(at).overflowX === "hidden") return at.getBoundingClientRect().right;
    return Infinity;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.data.trim() === "" || parent.closest("script, style, .hidden, .skip, dialog, thead, caption")) continue;
    // What an ellipsis cuts is not seen.
    if (parent.closest("details:not([open])")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const cut = cutAt(parent);
    for (const { left, right, top, bottom, width, height } of range.getClientRects())
      if (width > 1 && height > 1)
        boxes.push({ box: { left, right: Math.min(right, cut), top, bottom }, node, text: node.data.trim().slice(0, 30) });
  }
  const found = [];
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length; j++) {
      // A cut text has a box for its whole length, too.
      if (boxes[i].node === boxes[j].node) continue;
      const [a, b] = [boxes[i].box, boxes[j].box];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 4) found.push(boxes[i].text + " / " + boxes[j].text);
    }
  return found.join("\\n");
})()`;
