import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser, lowContrast, openPage, overflow, PHONE } from "../support/pages/browser.ts";

const INSTALL_MS = 300_000;
// These deadlines end what hangs. A slow machine fails no test.
const BUILD_MS = 600_000;
const CRAWL_MS = 300_000;

let browser: Browser;
let server: ChildProcess;
let site = "";

beforeAll(async () => {
  execFileSync(process.execPath, ["tools/install.mjs", "docs"], { timeout: INSTALL_MS });
  server = spawn(process.execPath, ["tools/docs/main.mjs", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  site = await printedUrl(server);
  browser = await launchBrowser();
}, INSTALL_MS + BUILD_MS);
afterAll(async () => {
  await browser?.close();
  const exited = once(server, "exit");
  if (server.exitCode === null && server.kill()) await exited;
});

/** The address that the process prints when it serves. */
async function printedUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the output is a pipe");
  const deadline = setTimeout(() => server.kill(), BUILD_MS);
  try {
    for await (const line of createInterface(stdout)) {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (url !== undefined) return url;
    }
  } finally {
    clearTimeout(deadline);
  }
  throw new Error("the process ended before it served the site");
}

/** What a reader finds on a page. */
interface Found {
  readonly path: string;
  /** Paths of the site's pages, some with an anchor. */
  readonly links: readonly string[];
  readonly anchors: ReadonlySet<string>;
  readonly problems: readonly string[];
}

const LINKS = `[...document.querySelectorAll("a[href]")].map((link) => link.href).join("\\n")`;
const IDS = `[...document.querySelectorAll("[id]")].map(({ id }) => id).join("\\n")`;
const BROKEN_PICTURES = `[...document.images].filter((image) => image.complete && image.naturalWidth === 0).map(({ src }) => src).join("\\n")`;

async function linesOf(page: Page, script: string): Promise<readonly string[]> {
  return String(await page.evaluate(script))
    .split("\n")
    .filter((line) => line !== "");
}

async function visit(page: Page, path: string): Promise<Found> {
  const response = await page.goto(`${site}${path}`, { waitUntil: "load" });
  const wide = await overflow(page);
  const links = await linesOf(page, LINKS);
  return {
    path,
    links: links.filter((link) => link.startsWith(site)).map((link) => link.slice(site.length)),
    anchors: new Set(await linesOf(page, IDS)),
    problems: [
      ...(response?.status() === 200 ? [] : [`status ${response?.status()}`]),
      ...(wide > 0 ? [`${wide} pixels too wide`] : []),
      ...(await linesOf(page, BROKEN_PICTURES)),
    ],
  };
}

/** Visits every page that a link reaches from the first. */
async function crawl(page: Page): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  const waiting = ["/"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const visited = await visit(page, path);
    found.set(path, visited);
    waiting.push(...visited.links.map((link) => link.replace(/#.*$/, "")));
  }
  return found;
}

describe("the documentation's site", () => {
  it(
    "has no dead link or anchor, needs no other server, and fits a phone",
    async () => {
      const { page, errors, outside, close } = await openPage(browser, site, { viewport: PHONE });
      const found = await crawl(page);
      const pages = [...found.values()];
      const documents = ["docs", "alerts/runbooks"].flatMap((folder) =>
        readdirSync(folder)
          .filter((name) => name.endsWith(".md"))
          .map((name) => `/${folder}/${name.replace(/md$/, "html")}`),
      );
      expect(documents.length).toBeGreaterThan(100);
      expect([...found.keys()]).toEqual(expect.arrayContaining(documents));
      const problems = pages.filter((one) => one.problems.length > 0);
      const anchored = pages.flatMap(({ path, links }) =>
        links.filter((link) => link.includes("#")).map((link) => ({ path, link })),
      );
      expect(anchored.length).toBeGreaterThan(500);
      const dead = anchored.filter(({ link }) => {
        const [path = "", anchor = ""] = link.split("#");
        return found.get(path)?.anchors.has(decodeURIComponent(anchor)) !== true;
      });
      expect({ problems: problems.map((one) => [one.path, one.problems]), dead, errors, outside }).toEqual({
        problems: [],
        dead: [],
        errors: [],
        outside: [],
      });
      await close();
    },
    CRAWL_MS,
  );

  it.each([
    ["sidecar-too-slow", "/alerts/runbooks/sidecar-too-slow.html"],
    ["RELAYER_NEUTRON_CHAIN_DENOM", "/docs/from-neutron-query-relayer.html"],
    ["update_period", "/docs/relayer.html"],
  ])("the search for %s leads to %s", async (term, path) => {
    const { page, errors, outside, close } = await openPage(browser, site);
    await page.getByRole("button", { name: "Search" }).click();
    await page.locator("#localsearch-input").fill(term);
    const result = page.locator(`#localsearch-list a[href^="${path}"]`).first();
    await result.click();
    await page.waitForURL((url) => url.pathname === path);
    await page.locator("main h1").waitFor();
    expect([errors, outside]).toEqual([[], []]);
    await close();
  });

  it.each(["light", "dark"] as const)("can be read in %s colours", async (colorScheme) => {
    const { page, close } = await openPage(browser, site, { colorScheme });
    for (const path of [
      "/",
      "/docs/relayer.html",
      "/docs/afternoon.html",
      "/config/icq-relayer.example.yaml.html",
    ]) {
      await page.goto(`${site}${path}`);
      expect(await lowContrast(page), path).toEqual([]);
    }
    await close();
  });

  it("a page that is not there says so", async () => {
    const { page, close } = await openPage(browser, `${site}/docs/nothing.html`);
    await page.getByText("404").first().waitFor();
    expect((await page.request.get(`${site}/docs/nothing.html`)).status()).toBe(404);
    await close();
  });
});
