import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { type FaultyLocalnet, startFaultyLocalnet, WAIT } from "../../support/faulty-localnet.ts";

const kvQuery = (key: string): unknown => ({
  register_kv_query: {
    connection_id: "connection-0",
    update_period: 3,
    keys: [{ path: "bank", key: toBase64(Uint8Array.of(0, ...utf8(key))) }],
  },
});

/** Situations in which the Go relayer loses queries or stops. */
describe("with sound nodes, nothing is lost", () => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet();
  });
  afterAll(() => net.stop());

  const ids = (): ReadonlySet<bigint> => new Set(net.net.relayer.status().queries.map(({ id }) => id));
  const idsAfter = async (known: ReadonlySet<bigint>, count: number): Promise<readonly bigint[]> =>
    vi.waitFor(() => {
      const added = [...ids()].filter((id) => !known.has(id));
      expect(added).toHaveLength(count);
      return added;
    }, WAIT);
  const expectResults = (added: readonly bigint[]): Promise<void> =>
    vi.waitFor(() => {
      for (const id of added) expect(net.view(id)?.results).toBeGreaterThan(0);
    }, WAIT);
  const removal = (id: bigint) => ({ remove_interchain_query: { query_id: Number(id) } });

  it("when one transaction removes a query and registers another", async () => {
    const known = ids();
    await net.net.execute(kvQuery("first"));
    const [first = 0n] = await idsAfter(known, 1);
    await net.net.execute(removal(first), kvQuery("second"));
    await vi.waitFor(() => expect(ids().has(first)).toBe(false), WAIT);
    const [second = 0n] = await idsAfter(known, 1);
    expect(second).toBeGreaterThan(first);
    await expectResults([second]);
    await net.net.execute(removal(second));
    await vi.waitFor(() => expect(ids().has(second)).toBe(false), WAIT);
  });

  it("when many queries are registered at once", async () => {
    const known = ids();
    await net.net.execute(...Array.from({ length: 30 }, (_, index) => kvQuery(`many${index}`)));
    const added = await idsAfter(known, 30);
    await expectResults(added);
    await net.net.execute(...added.map(removal));
    await vi.waitFor(() => expect(ids()).toEqual(known), WAIT);
  });

  it("when the keys of a query change while its results are on their way", async () => {
    const known = ids();
    const { remote } = net.proxies;
    await net.net.execute(kvQuery("before"));
    const [id = 0n] = await idsAfter(known, 1);
    await expectResults([id]);
    remote.set({ kind: "delay", ms: 300 });
    await vi.waitFor(() => expect(remote.calls()).toBeGreaterThan(5), WAIT);
    const key = toBase64(Uint8Array.of(0, ...utf8("after")));
    const update = { query_id: Number(id), new_keys: [{ path: "bank", key }] };
    const changedAt = await net.net.execute({ update_interchain_query: update });
    remote.set(undefined);
    await vi.waitFor(() => {
      expect(net.view(id)?.lastLocalHeight).toBeGreaterThan(changedAt);
      expect(net.view(id)?.error).toBeUndefined();
    }, WAIT);
    await net.net.execute(removal(id));
    await vi.waitFor(() => expect(ids()).toEqual(known), WAIT);
  });

  it("when a query is removed while its results are on their way", async () => {
    const known = ids();
    const { remote } = net.proxies;
    remote.set({ kind: "delay", ms: 300 });
    await net.net.execute(kvQuery("removed"));
    const [id = 0n] = await idsAfter(known, 1);
    await vi.waitFor(() => expect(remote.calls()).toBeGreaterThan(5), WAIT);
    await net.net.execute(removal(id));
    remote.set(undefined);
    await vi.waitFor(() => expect(ids().has(id)).toBe(false), WAIT);
    await net.transfer();
    await net.expectNothingLost();
  });
});
