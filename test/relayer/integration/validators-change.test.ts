import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLocalQueries } from "../../../src/relayer/chain/local-queries.ts";
import { type FaultyLocalnet, startFaultyLocalnet, WAIT } from "../../support/faulty-localnet.ts";

const signal = new AbortController().signal;

describe("when none of the trusted validators has signed the newest remote block", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet();
  });
  afterAll(() => net.stop());

  const height = async (): Promise<bigint> => (await net.net.clients.remote.status(signal)).latestHeight;

  /** Replaces the only validator of the remote chain, and waits until the new one signs. */
  async function replaceValidator(index: number): Promise<void> {
    for (const update of [
      { index, power: "10" },
      { index: index - 1, power: "0" },
    ]) {
      await net.net.control("remote-1/validators", update);
      const from = await height();
      await vi.waitFor(async () => expect(await height()).toBeGreaterThan(from + 3n), WAIT);
    }
  }

  async function consensusHeights(): Promise<readonly bigint[]> {
    const queries = createLocalQueries(net.net.clients.local, "neutron");
    const clientId = await queries.clientOfConnection("connection-0", signal);
    return (await queries.consensusHeights(clientId, signal)).map((one) => one.height);
  }

  it("the client is updated through the headers between them, for values and for transactions", async () => {
    const { remote } = net.proxies;
    // No update moves the trusted height then.
    remote.set({ kind: "hang" });
    await replaceValidator(1);
    const trusted = await consensusHeights();
    await replaceValidator(2);
    await net.transfer();
    await replaceValidator(3);
    await replaceValidator(4);
    const before = await height();
    remote.set(undefined);
    await net.register();
    await net.expectNothingLost();
    expect(net.view(net.transfersId)?.error).toBeUndefined();
    const between = (await consensusHeights()).filter((at) => at < before && !trusted.includes(at));
    // The last block of each validator at least.
    expect(between.length).toBeGreaterThanOrEqual(4);
  }, 90_000);
});
