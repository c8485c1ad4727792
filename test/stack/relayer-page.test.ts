import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromUtf8 } from "../../src/platform/base/bytes.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { type HttpRoute, textReply } from "../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../src/platform/http/route-server.ts";
import { type RelayerPageInput, relayerPages } from "../../src/relayer/page/relayer-page.ts";
import { pageReply } from "../../src/platform/web/page-shell.ts";
import {
  axeViolations,
  brokenNumbers,
  DESKTOP,
  launchBrowser,
  lowContrast,
  openPage,
  overflow,
  PHONE,
  tabOrder,
  untilLive,
} from "../support/pages/browser.ts";
import { type PageServer, type PageServerOptions, startPageServer } from "../support/pages/page-server.ts";
import { pageContent } from "../support/pages/page-contents.ts";
import { healthyRelayer, troubledRelayer } from "../support/pages/relayer-scenes.ts";

let browser: Browser;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => browser.close());

/** A relayer's page whose state the test changes. */
async function serve(input: RelayerPageInput, options: Partial<PageServerOptions> = {}) {
  const state = { input };
  const server = await startPageServer({
    pages: relayerPages(() => ({ ...state.input, status: { ...state.input.status, nowMs: Date.now() } })),
    ...options,
  });
  closing.push(server.close);
  return { state, server };
}

async function open(server: PageServer, path = "/", options: Parameters<typeof openPage>[2] = {}) {
  const opened = await openPage(browser, `${server.url}${path}`, options);
  closing.push(opened.close);
  return opened;
}

const SCENES = [
  { name: "healthy", input: healthyRelayer, headline: "✓ In order: every result is current" },
  { name: "in trouble", input: troubledRelayer, headline: "✕ A remote chain cannot be reached" },
] as const;

/** Every page, and a column of its table. */
const PAGES = [
  ["/", "light client"],
  ["/costs", "gas of a result"],
  ["/attempts", "outcome"],
  ["/problems", ""],
  ["/dead-letters", ""],
  ["/endpoints", "latency"],
  ["/queries/7", "outcome"],
] as const;

describe.each(SCENES)("the pages of a relayer that is $name", ({ input, headline }) => {
  it.each([
    ["desktop", DESKTOP, "light"],
    ["desktop", DESKTOP, "dark"],
    ["phone", PHONE, "light"],
    ["phone", PHONE, "dark"],
  ] as const)(
    "fits a %s, %o %s: nothing is cut off, every text can be read, nothing is loaded from elsewhere",
    async (_name, viewport, colorScheme) => {
      const { server } = await serve(input());
      for (const [path, column] of PAGES) {
        const { page, errors, outside } = await open(server, path, { viewport, colorScheme });
        await untilLive(page);
        if (path === "/") expect(await page.locator(".headline").textContent()).toBe(headline);
        expect([path, await overflow(page)]).toEqual([path, 0]);
        expect([path, await brokenNumbers(page)]).toEqual([path, []]);
        expect([path, await lowContrast(page)]).toEqual([path, []]);
        expect([path, await axeViolations(page)]).toEqual([path, []]);
        expect([path, errors, outside]).toEqual([path, [], []]);
        // Cards on a phone stay a table for screen readers.
        if (column !== "")
          expect(await page.getByRole("columnheader", { name: column, exact: true }).count()).toBe(1);
      }
    },
  );
});

describe("the first page of a relayer with ten queries", () => {
  it("fits on one screen of 1440 × 900 pixels, and on three of a phone", async () => {
    const { server } = await serve(healthyRelayer(10));
    const sizeOf = async (viewport: { readonly width: number; readonly height: number }) => {
      const { page } = await open(server, "/", { viewport });
      await untilLive(page);
      return {
        height: Number(await page.evaluate("document.documentElement.scrollHeight")),
        words: (await page.locator("main").innerText()).split(/\s+/).length,
      };
    };
    const desktop = await sizeOf({ width: 1_440, height: 900 });
    expect(desktop.height).toBeLessThanOrEqual(900);
    expect(desktop.words).toBeLessThanOrEqual(300);
    expect((await sizeOf(PHONE)).height).toBeLessThanOrEqual(3 * PHONE.height);
  });
});

describe("the relayer's page", () => {
  it("has landmarks, one first heading, and labels", async () => {
    const { server } = await serve(troubledRelayer());
    const { page } = await open(server);
    for (const role of ["banner", "main", "contentinfo", "search"] as const)
      expect(await page.getByRole(role).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
      "Queries 120, page 1 of 3",
      "Connections 2",
    ]);
    expect(await page.getByLabel("State").count()).toBe(1);
    const nav = page.getByRole("navigation", { name: "Pages", exact: true });
    expect(await nav.getByRole("link").allTextContents()).toEqual([
      "Overview",
      "Costs",
      "Attempts",
      "Problems over time",
      "Dead letters",
      "Endpoints",
    ]);
    await nav.getByRole("link", { name: "Attempts" }).click();
    await untilLive(page);
    expect(await nav.locator("[aria-current=page]").allTextContents()).toEqual(["Attempts"]);
    expect(await page.getByRole("img", { name: /Results per minute: .* included/ }).count()).toBe(1);
    await page.getByRole("link", { name: "7", exact: true }).click();
    await page.getByText("What it asks").waitFor();
    expect(new URL(page.url()).pathname).toBe("/queries/7");
  });

  it("can be used with the keyboard alone, in the order of the page", async () => {
    const { server } = await serve(healthyRelayer());
    const { page } = await open(server);
    await untilLive(page);
    expect(await tabOrder(page, 12)).toEqual([
      "Skip to content",
      "Overview",
      "Costs",
      "Attempts",
      "Problems over time",
      "Dead letters",
      "Endpoints",
      "search",
      "state",
      "query",
      "late",
      "last result",
    ]);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.getByRole("link", { name: "owner" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("th[aria-sort=ascending]", { hasText: "owner" }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("owner");
    expect(new URL(page.url()).search).toBe("?sort=owner");
  });

  it("shows a change without a new load, and keeps focus and typed text", async () => {
    const { server, state } = await serve(healthyRelayer());
    const { page } = await open(server);
    await untilLive(page);
    await page.locator("#search").fill("connection-1");
    await page.getByText("6 of 12").waitFor();
    state.input = troubledRelayer();
    await page.getByText("A remote chain cannot be reached").waitFor();
    await page.getByText("60 of 120, page 1 of 2").waitFor();
    expect(await page.locator("#search").inputValue()).toBe("connection-1");
    expect(await page.evaluate("document.activeElement.id")).toBe("search");
    expect(await page.title()).toBe("(2) A remote chain cannot be reached – relayer");
    // Only the sentence is announced, and it has no time that changes with every update.
    expect(await page.locator("[aria-live]").allTextContents()).toEqual([
      "✕ A remote chain cannot be reached",
    ]);
  });

  it("shows immediately that it is old when the connection breaks, and is live again afterwards", async () => {
    const { server } = await serve(healthyRelayer());
    const { page } = await open(server);
    await untilLive(page);
    await server.close();
    await page.getByText("Not live: no updates are arriving from the daemon").waitFor({ timeout: 3_000 });
    expect(await page.title()).toMatch(/^\(old\) /);
    expect(await page.locator("#stream-time").textContent()).toMatch(/^As of 20.* UTC, \d+ s ago$/);
    await page.getByText(/UTC, [3-9] s ago/).waitFor();
    expect(await lowContrast(page)).toEqual([]);
    await serve(healthyRelayer(), { port: server.port });
    await untilLive(page);
    expect(await page.title()).not.toMatch(/old/);
  });

  it("says that it is old when the connection stays open and nothing arrives", async () => {
    const place = { heading: "A daemon", version: "1", startedAtMs: 0, links: [], nav: [], path: "/" };
    const content = await pageContent(relayerPages(healthyRelayer), "/");
    const silent = await openRouteServer(
      {
        name: "silent",
        listen: { host: "127.0.0.1", port: 0 },
        portOption: "none",
        routes: [
          {
            method: "GET",
            path: "/",
            handle: () => pageReply(place, content, { nowMs: Date.now(), everyMs: 100 }),
          },
          {
            method: "GET",
            path: "/live",
            handle: () => ({
              status: 200,
              headers: { "content-type": "text/event-stream" },
              body: "",
              stream: {
                run: (_write, signal) =>
                  new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
              },
            }),
          },
        ],
      },
      { logger: silentLogger },
    );
    closing.push(silent.close);
    const opened = await openPage(browser, `http://127.0.0.1:${silent.address.port}/`);
    closing.push(opened.close);
    await opened.page.getByText("Not live").waitFor();
  });

  it("is complete without a script", async () => {
    const { server } = await serve(troubledRelayer());
    const { page } = await open(server, "/", { javaScriptEnabled: false });
    expect(await page.locator(".headline").textContent()).toBe("✕ A remote chain cannot be reached");
    await page.locator("#search").fill("rejected");
    await page.getByRole("button", { name: "Show" }).click();
    expect(await page.locator("#queries tbody tr").count()).toBe(12);
    expect(await page.locator("#stream").textContent()).toContain("Reloads every 10 s");
    await page.getByRole("link", { name: "Dead letters", exact: true }).click();
    expect(await page.getByText("relaywatch relayer dead-letters resubmit 7/").isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0);
  });

  it("pages through 5,000 queries on the server", async () => {
    const { server } = await serve(healthyRelayer(5_000));
    const { page } = await open(server, "/?sort=id");
    expect(await page.locator("#queries tbody tr").count()).toBe(50);
    await untilLive(page);
    await page.locator("#page-last").click();
    await page.getByText("5 000, page 100 of 100").waitFor();
    expect(await page.locator("#queries tbody tr").first().getAttribute("id")).toBe("query-4951");
    expect(await page.locator("#queries tbody tr").count()).toBe(50);
  });
});

describe("the button that sends a dead letter again", () => {
  const received: { readonly body: string; readonly authorization: string | undefined }[] = [];
  const RESUBMIT: HttpRoute = {
    method: "POST",
    path: "/resubmit-txs",
    guarded: true,
    handle: ({ body, headers: { authorization } }) => {
      received.push({ body: fromUtf8(body), authorization });
      return textReply(200, "");
    },
  };

  it("asks for the token, is refused with a wrong one, and works with the right one", async () => {
    const { server, state } = await serve(troubledRelayer(), {
      routes: [RESUBMIT],
      token: new Secret("right"),
    });
    const { page } = await open(server, "/dead-letters");
    await untilLive(page);
    const button = page.getByRole("button", { name: /^Send again transaction .* of query 7$/ });
    const give = async (token: string): Promise<void> => {
      await button.click();
      await page.getByLabel("Token", { exact: true }).fill(token);
      await page.keyboard.press("Enter");
    };
    await button.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Nothing was sent: no token was given.").waitFor();
    await give("wrong");
    await page.getByText("Refused with status 401").waitFor();
    expect(received).toEqual([]);
    await give("right");
    await page.getByText(/^Sent again: transaction ab12/).waitFor();
    const deadLetters = troubledRelayer().deadLetters();
    expect(received).toEqual([
      {
        body: JSON.stringify({ txs: [{ query_id: 7, hash: deadLetters[0]?.hash }] }),
        authorization: "Bearer right",
      },
    ]);
    // It is remembered for the next one, in memory only.
    await page.getByRole("button", { name: /of query 14$/ }).click();
    await expect.poll(() => received.length).toBe(2);
    expect(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length")).toBe(
      0,
    );
    expect(await page.content()).not.toContain('right"');
    state.input = { ...troubledRelayer(), deadLetters: () => [] };
    await page.getByText("None. Every transaction of a TX query").waitFor();
    await page.reload();
    await untilLive(page);
  });
});
