import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import type { OpenHttpServer } from "../../../../src/platform/http/http-server.ts";
import { openRouteServer } from "../../../../src/platform/http/route-server.ts";
import { html } from "../../../../src/platform/web/html.ts";
import { type LivePage, livePageRoutes, type PageView } from "../../../../src/platform/web/live-page.ts";
import type { PageContent } from "../../../../src/platform/web/page-shell.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const open: OpenHttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const START = Date.UTC(2026, 10, 21);
const update = z.object({
  title: z.string(),
  as_of: z.string(),
  age_seconds: z.number(),
  sections: z.record(z.string(), z.string()),
});

async function startScene() {
  const clock = createManualClock(START);
  const state = { verdict: "good", renderings: 0 };
  const content = ({ query }: PageView): PageContent => {
    state.renderings += 1;
    return {
      title: state.verdict,
      asOfMs: clock.nowMs() - 1_000,
      sections: [
        { id: "verdict", label: "Verdict", content: html`<p>${state.verdict}</p>` },
        { id: "list", label: "List", content: html`<p>${query.get("search") ?? "all"}</p>` },
      ],
    };
  };
  const frame = { heading: "A daemon", version: "1", startedAtMs: START, links: [] };
  const server = await openRouteServer(
    {
      name: "page",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "none",
      routes: livePageRoutes(
        { frame, pages: [{ path: "/", name: "Only", about: "the only page", content }] },
        clock,
      ),
    },
    { logger: silentLogger },
  );
  open.push(server);
  return { clock, state, server, url: `http://127.0.0.1:${server.address.port}` };
}

/** Opens the stream and returns a reader of its updates. */
async function subscribe(url: string) {
  const response = await fetch(url);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<z.output<typeof update>> => {
    for (;;) {
      const match = /event: update\ndata: (.*)\n\n/.exec(text);
      if (match !== null) {
        text = text.slice(match.index + match[0].length);
        return update.parse(JSON.parse(match[1] ?? ""));
      }
      const chunk = await reader?.read();
      if (chunk?.value === undefined) throw new Error("the stream has ended");
      text += chunk.value;
    }
  };
  return { response, next, close: () => reader?.cancel() };
}

describe("a live page", () => {
  it("is complete without a script, for the view of its address", async () => {
    const { url } = await startScene();
    const response = await fetch(`${url}/?search=${encodeURIComponent("<b>")}`);
    const text = await response.text();
    expect(text).toContain("<p>good</p>");
    expect(text).toContain("<p>&lt;b&gt;</p>");
    expect(text).toContain("As of <time");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("sends all sections first, then those that changed, and a heartbeat without a change", async () => {
    const { url, clock, state } = await startScene();
    const { response, next } = await subscribe(`${url}/live?search=one`);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await next()).toEqual({
      title: "good",
      as_of: "2026-11-20T23:59:59.000Z",
      age_seconds: 1,
      sections: { verdict: "<p>good</p>", list: "<p>one</p>" },
    });
    await clock.advance(2_000);
    expect(await next()).toMatchObject({ title: "good", as_of: "2026-11-21T00:00:01.000Z", sections: {} });
    state.verdict = "bad";
    await clock.advance(2_000);
    expect(await next()).toMatchObject({ title: "bad", sections: { verdict: "<p>bad</p>" } });
  });

  it("renders once for all subscribers of one view", async () => {
    const { url, clock, state } = await startScene();
    const all = await Promise.all([1, 2, 3].map(() => subscribe(`${url}/live`)));
    await Promise.all(all.map(({ next }) => next()));
    expect(state.renderings).toBe(1);
    await clock.advance(2_000);
    await Promise.all(all.map(({ next }) => next()));
    expect(state.renderings).toBe(2);
  });

  it("refuses more than 32 subscribers with a reason, and has room again when one leaves", async () => {
    const { url, clock } = await startScene();
    const all = await Promise.all(Array.from({ length: 32 }, () => subscribe(`${url}/live`)));
    await Promise.all(all.map(({ next }) => next()));
    const refused = await fetch(`${url}/live`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await refused.json()).toMatchObject({ error: "too-many-pages" });
    expect((await fetch(url)).status).toBe(200);
    await all[0]?.close();
    await expect
      .poll(async () => {
        await clock.advance(10);
        const again = await fetch(`${url}/live`);
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });

  it("ends its streams when the server closes", async () => {
    const { url, server, clock } = await startScene();
    const { next } = await subscribe(`${url}/live`);
    await next();
    await server.close();
    await expect(next()).rejects.toThrow();
    expect(clock.sleeping()).toBe(0);
  });

  it("has several pages, each with its address, its stream and its own content at one time", async () => {
    const clock = createManualClock(START);
    const page = (path: string, name?: string): LivePage => ({
      path,
      about: "a test",
      ...(name !== undefined && { name }),
      content: ({ params }) => ({
        title: path,
        asOfMs: START,
        ...(params["id"] === "0" && { status: 404 as const }),
        sections: [{ id: "text", label: "Text", content: html`<p>${params["id"] ?? name ?? ""}</p>` }],
      }),
    });
    const frame = { heading: "A daemon", version: "1", startedAtMs: START, links: [] };
    const pages = [page("/", "First"), page("/more", "More"), page("/things/:id")];
    const server = await openRouteServer(
      {
        name: "pages",
        listen: { host: "127.0.0.1", port: 0 },
        portOption: "none",
        routes: livePageRoutes({ frame, pages }, clock),
      },
      { logger: silentLogger },
    );
    open.push(server);
    const url = `http://127.0.0.1:${server.address.port}`;
    const get = async (path: string) => {
      const response = await fetch(`${url}${path}`);
      return { status: response.status, text: await response.text() };
    };
    expect((await get("/more")).text).toContain(
      `<nav aria-label="Pages"><a href="/">First</a> <a href="/more" aria-current="page">More</a> </nav>`,
    );
    expect((await get("/things/7")).text).toContain("<p>7</p>");
    expect((await get("/things/8")).text).toContain("<p>8</p>");
    expect((await get("/things/0")).status).toBe(404);
    const { next, close } = await subscribe(`${url}/live/things/7`);
    expect(await next()).toMatchObject({ sections: { text: "<p>7</p>" } });
    await close();
  });

  it("has no navigation when it is the only one", async () => {
    const { url } = await startScene();
    expect(await (await fetch(url)).text()).not.toContain("<nav");
  });
});
