import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from "vitest";
import type { EndpointStatus } from "../../../src/relayer/health/relayer-status.ts";
import type { FaultProxy, ProxyFault } from "../../support/fault-proxy.ts";
import { withWrongProof } from "../../support/json-rpc-bodies.ts";
import { DEFAULTS, type FaultyLocalnet, startFaultyLocalnet, WAIT } from "../../support/faulty-localnet.ts";

/** A failure of the first endpoint, and how the health of the endpoint shows it. */
interface Row {
  readonly name: string;
  readonly fault: (net: FaultyLocalnet, chain: "local" | "remote") => ProxyFault;
  readonly shown: (endpoint: EndpointStatus | undefined) => void;
}

const isDown = (endpoint: EndpointStatus | undefined): void => expect(endpoint?.state).toBe("down");

const ROWS: readonly Row[] = [
  { name: "resets every connection", fault: () => ({ kind: "reset" }), shown: isDown },
  { name: "never responds", fault: () => ({ kind: "hang" }), shown: isDown },
  { name: "responds with 503", fault: () => ({ kind: "status", status: 503 }), shown: isDown },
  { name: "breaks off each response", fault: () => ({ kind: "truncate" }), shown: isDown },
  {
    name: "is a node of another chain",
    fault: ({ net }, chain) => ({
      kind: "other-node",
      url: net.urls[chain === "local" ? "remote" : "local"],
    }),
    shown: (endpoint) => expect(endpoint?.state).toBe("wrong-chain"),
  },
  {
    name: "has no new block",
    fault: () => ({ kind: "stale" }),
    shown: (endpoint) => expect(endpoint?.lagBlocks ?? 0n).toBeGreaterThan(5n),
  },
];

describe("with a second endpoint of each chain, the relayer goes on while the first one of both", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet({ hasSecond: true });
  });
  afterAll(() => net.stop());

  it.each(ROWS.map((row) => [row.name, row] as const))(
    "%s",
    async (_name, { fault, shown }) => {
      const firsts = (["remote", "local"] as const).map((chain) => ({ chain, proxy: net.proxies[chain] }));
      const shownOf = (proxy: FaultProxy): EndpointStatus | undefined =>
        net.net.relayer.status().endpoints.find(({ name }) => name === new URL(proxy.url).host);
      onTestFailed(() => firsts.forEach(({ proxy }) => proxy.set(undefined)));
      for (const { chain, proxy } of firsts) proxy.set(fault(net, chain));
      await Promise.all([net.transfer(), net.register()]);
      await vi.waitFor(() => firsts.forEach(({ proxy }) => shown(shownOf(proxy))), WAIT);
      await net.transfer();
      await net.expectNothingLost();
      for (const { proxy } of firsts) {
        shown(shownOf(proxy));
        proxy.set(undefined);
      }
      await vi.waitFor(() => {
        for (const { proxy } of firsts) {
          expect(shownOf(proxy)).toMatchObject({ state: "good" });
          expect(shownOf(proxy)?.lagBlocks ?? 0n).toBeLessThan(6n);
        }
      }, WAIT);
    },
    240_000,
  );

  it("has no new block on the local chain, and the events come from the second one", async () => {
    const proxy = net.proxies.local;
    proxy.set({ kind: "no-websocket" });
    await net.register();
    await net.expectNothingLost();
    // Until it is compared with the other one, the endpoint counts as good: it is read for what the events announce.
    proxy.set({ kind: "stale" });
    await net.register();
    await net.expectNothingLost();
    proxy.set(undefined);
  }, 240_000);
});

// Nothing but time ends a distrust, and a node of another chain can earn it.
describe("with a second endpoint, the relayer distrusts the first one that", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet({ hasSecond: true, settings: DEFAULTS });
  });
  afterAll(() => net.stop());

  it("of the remote chain returns wrong proofs, and not one that counts transactions that no block has", async () => {
    const proxy = net.proxies.remote;
    proxy.set({
      kind: "rewrite",
      result: ({ method }, result) =>
        method === "blockchain"
          ? JSON.parse(JSON.stringify(result).replace(/"num_txs":"\d+"/g, '"num_txs":"7"'))
          : result,
    });
    // While the first one is the slower one, on a busy machine, the second one is read.
    for (let transfers = 0; transfers < 2 || (proxy.hits() === 0 && transfers < 20); transfers++) {
      await net.transfer();
      await net.expectNothingLost();
    }
    expect(proxy.hits()).toBeGreaterThan(0);
    const distrusted = net.net.relayer.status().endpoints.map((endpoint) => endpoint.distrusted);
    expect(distrusted).toEqual(Array.from({ length: 4 }));
    proxy.set(undefined);
  }, 240_000);

  it("of the remote chain returns wrong proofs", async () => {
    const proxy = net.proxies.remote;
    const first = (): EndpointStatus | undefined =>
      net.net.relayer.status().endpoints.find(({ name }) => name === new URL(proxy.url).host);
    expect(first()?.distrusted).toBeUndefined();
    proxy.set({ kind: "rewrite", result: withWrongProof });
    await Promise.all([net.transfer(), net.register()]);
    await vi.waitFor(() => expect(first()?.distrusted).toMatch(/^bank\/\w+: /), WAIT);
    // The second one was asked in the same cycle.
    const failures = net.net.relayer.status().queries.map(({ error }) => error?.code);
    expect(failures).not.toContain("invalid-proof");
    await net.expectNothingLost();
    expect(first()).toMatchObject({ state: "good" });
    // No proof comes from it any more, although it responds.
    const hits = proxy.hits();
    await net.transfer();
    await net.expectNothingLost();
    expect(proxy.hits()).toBe(hits);
    proxy.set(undefined);
    await net.expectNothingLost();
    expect(first()?.distrusted).toBeDefined();
  }, 240_000);
});

describe("with one endpoint of each chain, the relayer", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet({ blockTimeMs: 700, settings: DEFAULTS });
  });
  afterAll(() => net.stop());

  it("is ready all the time behind a load balancer whose nodes are three blocks apart", async () => {
    const { local, remote } = net.proxies;
    for (const proxy of [local, remote]) proxy.set({ kind: "uneven", blocks: 3n });
    const seen = new Set<string>();
    const results = (): number =>
      net.net.relayer.status().queries.reduce((sum, { results: own }) => sum + own, 0);
    const before = results();
    await Promise.all([net.transfer(), net.register()]);
    for (let samples = 0; samples < 60 || results() <= before + 10; samples++) {
      // A machine that is busy makes results late, too.
      for (const { code, text } of net.net.relayer.status().problems)
        if (code !== "queries-overdue") seen.add(text);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect([...seen]).toEqual([]);
    expect(Math.min(local.hits(), remote.hits())).toBeGreaterThan(10);
    for (const proxy of [local, remote]) proxy.set(undefined);
    await net.expectNothingLost();
  }, 240_000);

  it("says which endpoint has wrong headers, and goes on when they are right", async () => {
    const { remote } = net.proxies;
    remote.set({
      kind: "rewrite",
      result: ({ method }, result) =>
        method === "commit"
          ? JSON.parse(JSON.stringify(result).replace(/"signature":"..../, '"signature":"AAAA'))
          : result,
    });
    await vi.waitFor(() => expect(net.problems()).toContain("cycle-failed"), { timeout: 60_000 });
    const name = new URL(remote.url).host;
    const { problems, endpoints } = net.net.relayer.status();
    expect(problems.map(({ text }) => text).join()).toContain(`${name}: header`);
    expect(endpoints.find((endpoint) => endpoint.name === name)?.distrusted).toContain("does not verify");
    remote.set(undefined);
    await net.transfer();
    await net.expectNothingLost();
  }, 240_000);
});
