import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLocalQueries } from "../../../src/relayer/chain/local-queries.ts";
import { type FaultyLocalnet, startFaultyLocalnet, WAIT } from "../../support/faulty-localnet.ts";

const signal = new AbortController().signal;

describe("a remote node without the header after the newest trusted height", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet();
  });
  afterAll(() => net.stop());

  /** The newest trusted height, after what was in flight is in a block. */
  async function trustedHeight(): Promise<bigint> {
    const { status } = net.net.relayer;
    const sentBefore = status().localHeight;
    await vi.waitFor(() => expect(status().localHeight).toBeGreaterThan(sentBefore + 10n), WAIT);
    const queries = createLocalQueries(net.net.clients.local, "neutron");
    const clientId = await queries.clientOfConnection("connection-0", signal);
    return (await queries.clientState(clientId, signal)).latestHeight.height;
  }

  it("costs nothing: the next trusted height is tried", async () => {
    const { remote } = net.proxies;
    // No update moves the trusted height then.
    remote.set({ kind: "hang" });
    const missing = (await trustedHeight()) + 1n;
    remote.set({
      kind: "error",
      data: `height ${missing} is not available, lowest height is ${missing + 1n}`,
      only: ({ method, params }) =>
        (method === "commit" || method === "validators") && params["height"] === `${missing}`,
    });
    await Promise.all([net.transfer(), net.register()]);
    await net.expectNothingLost();
    expect(remote.hits()).toBeGreaterThan(0);
  }, 240_000);
});
