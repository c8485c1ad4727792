import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import type { QueryView } from "../../../src/relayer/health/relayer-status.ts";
import { consumerAddress } from "../../support/consumer-address.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const WAIT = { timeout: 60_000, interval: 50 };

function view(net: RelayedLocalnet, id: bigint): QueryView | undefined {
  return net.relayer.status().queries.find((query) => query.id === id);
}

/** Registers a query through the contract. Returns its id: the one that the relayer did not have before. */
async function register(net: RelayedLocalnet, message: unknown): Promise<bigint> {
  await vi.waitFor(() => expect(net.relayer.status().loaded).toBe(true), WAIT);
  const before = new Set(net.relayer.status().queries.map(({ id }) => id));
  await net.execute(message);
  return vi.waitFor(() => {
    const added = net.relayer.status().queries.find(({ id }) => !before.has(id));
    expect(added).toBeDefined();
    return added?.id ?? 0n;
  }, WAIT);
}

const kvQuery = (path: string, key: Uint8Array, period = 1): unknown => ({
  register_kv_query: {
    connection_id: "connection-0",
    update_period: period,
    keys: [{ path, key: toBase64(key) }],
  },
});

describe("the relayer between two local chains", () => {
  let net: RelayedLocalnet;
  beforeAll(async () => {
    net = await startRelayedLocalnet();
  });
  afterAll(() => net.stop());

  it("answers the query of the genesis repeatedly", async () => {
    await vi.waitFor(() => expect(view(net, 1n)?.results).toBeGreaterThanOrEqual(2), WAIT);
    expect(await net.queryConsumer({ kv_result: { query_id: 1 } })).toMatchObject({});
    expect(view(net, 1n)?.error).toBeUndefined();
  });

  it("answers a query after its registration, and drops it after its removal", async () => {
    const bob = net.alice.remote.address;
    const id = await register(net, {
      register_balance_query: { connection_id: "connection-0", update_period: 1, addr: bob, denom: "uatom" },
    });
    await vi.waitFor(() => expect(view(net, id)?.results).toBeGreaterThanOrEqual(1), WAIT);
    await net.execute({ remove_interchain_query: { query_id: Number(id) } });
    await vi.waitFor(() => expect(view(net, id)).toBeUndefined(), WAIT);
  });

  it("reports a query that cannot be answered, submits nothing for it, and answers the others", async () => {
    const noStore = await register(net, kvQuery("nosuch", utf8("x")));
    await vi.waitFor(() => expect(view(net, noStore)?.error?.code).toBe("no-such-store"), WAIT);
    const results = view(net, 1n)?.results ?? 0;
    await vi.waitFor(() => expect(view(net, 1n)?.results).toBeGreaterThan(results), WAIT);
    expect(view(net, noStore)?.error?.reason).toContain('no store "nosuch"');
    expect(view(net, noStore)).toMatchObject({ results: 0, lastLocalHeight: 0n });
    await net.execute({ remove_interchain_query: { query_id: Number(noStore) } });
  });

  it("retries a query whose contract rejected the result", async () => {
    await net.execute({ set_failure: { kv: true, tx: false } });
    await vi.waitFor(() => expect(view(net, 1n)?.error?.code).toBe("rejected"), WAIT);
    expect(view(net, 1n)?.error?.reason).toContain("rejected KV query result");
    await net.execute({ set_failure: { kv: false, tx: false } });
    await vi.waitFor(() => expect(view(net, 1n)?.error).toBeUndefined(), WAIT);
  });

  it("answers many queries in few transactions", async () => {
    const count = 40;
    const keys = Array.from({ length: count }, (_, index) => Uint8Array.of(0, ...utf8(`denom${index}`)));
    await net.execute(...keys.map((key) => kvQuery("bank", key, 1_000)));
    await vi.waitFor(() => {
      const answered = net.relayer
        .status()
        .queries.filter((query) => query.updatePeriod === 1_000n && query.results > 0);
      expect(answered.length).toBe(count);
    }, WAIT);
    const heights = net.relayer.status().queries.filter((query) => query.updatePeriod === 1_000n);
    expect(new Set(heights.map((query) => query.lastLocalHeight)).size).toBeLessThanOrEqual(3);
  });

  it("brings a transfer on the remote chain to the contract", async () => {
    const recipient = net.alice.remote.address;
    const filter = { connection_id: "connection-0", update_period: 1, recipient };
    const id = await register(net, { register_transfers_query: filter });
    const sent = await net.send(net.alice.remote, sendMessage(CHAINS.remote, recipient, recipient, 7n));
    expect(sent.kind).toBe("included");
    await vi.waitFor(() => expect(view(net, id)?.results).toBe(1), WAIT);
    const response = await net.queryConsumer({ transactions: { query_id: Number(id) } });
    expect(response).toMatchObject({
      transactions: [{ height: { revision_height: Number("height" in sent ? sent.height : 0n) } }],
    });
  });

  it("has a value in every metric", async () => {
    const page = await read(net, "/metrics");
    const types = [...page.matchAll(/^# TYPE (\w+) (\w+)/gm)].map(([, name = "", type]) => ({ name, type }));
    expect(types.map(({ name }) => name)).toContain("relaywatch_relayer_results_total");
    // A gauge may be 0, for instance that of the overdue queries.
    const isSet = ({ name, type }: (typeof types)[number]): boolean =>
      new RegExp(`^${name}\\w*(?:\\{.*\\})? ${type === "gauge" ? "" : "0*[1-9]"}`, "m").test(page);
    const unset = types.filter((metric) => !isSet(metric)).map(({ name }) => name);
    // Nothing was pruned, and there is no rule of urgency.
    const absent = ["spent_today_gas", "spent_today_urgent_fees", "tx_pruned_blocks_total"];
    // The relayer has not run for ten minutes, and there is neither a budget nor a fee grant.
    absent.push("month_forecast_fees", "empty_seconds", "month_budget_fees");
    absent.push("fee_grant_left", "fee_grant_expiry_timestamp_seconds");
    // The costs are read every ten seconds, and may have been read before the first payment.
    absent.push("owner_month_fees");
    expect(unset.filter((name) => !absent.includes(name.replace("relaywatch_relayer_", "")))).toEqual([]);
    expect(page).toMatch(/^relaywatch_relayer_ready 1$/m);
  });

  it("counts the fees by connection, as many as it spent", async () => {
    await vi.waitFor(async () => {
      const page = await read(net, "/metrics");
      const valueOf = (name: string): number =>
        Number(new RegExp(`^relaywatch_relayer_${name} (\\S+)$`, "m").exec(page)?.[1]);
      const fees = valueOf('fees_total\\{connection_id="connection-0"\\}');
      expect(fees).toBeGreaterThan(0);
      // What is in flight is spent, and not yet counted.
      expect(fees).toBeCloseTo(valueOf("spent_today_fees"), 0);
      const status: unknown = JSON.parse(await read(net, "/api/status"));
      expect(status).toMatchObject({
        spending: { daily_fee: null, reserve: "0", owners: [{ gas: expect.stringMatching(/^[1-9]/) }] },
      });
    }, WAIT);
  });

  it("shows its queries and their results as JSON", async () => {
    const status: unknown = JSON.parse(await read(net, "/api/status"));
    expect(status).toMatchObject({ connected: true, connections: [{ id: "connection-0", error: null }] });
    const queries: unknown = JSON.parse(await read(net, "/api/queries"));
    expect(queries).toContainEqual({
      id: "1",
      type: "kv",
      connection_id: "connection-0",
      owner: expect.stringMatching(/^neutron1/),
      key_count: 1,
      update_period: expect.stringMatching(/^[1-9]\d*$/),
      state: "answered",
      last_local_height: expect.stringMatching(/^[1-9]\d*$/),
      last_remote_height: expect.stringMatching(/^[1-9]\d*$/),
      unchanged_since_height: null,
      result_age_blocks: expect.any(Number),
      result_age_seconds: expect.any(Number),
      result_age_is_at_least: false,
      due_height: expect.stringMatching(/^[1-9]\d*$/),
      late_blocks: expect.any(Number),
      late_seconds: expect.any(Number),
      overdue: false,
      // Null, or for a moment "no-newer-remote-block".
      unanswerable: expect.toSatisfy((reason) => reason === null || reason === "no-newer-remote-block"),
      results: expect.any(Number),
      gas: expect.stringMatching(/^[1-9]\d*$/),
      fee: expect.stringMatching(/^[1-9]\d*$/),
      failures: 0,
      error: null,
      retry_in_ms: 0,
    });
  });
});

/** Reads a path of the relayer's HTTP API. */
async function read(net: RelayedLocalnet, path: string): Promise<string> {
  const { host, port } = await net.relayer.http.ready;
  return (await fetch(`http://${host}:${port}${path}`)).text();
}

describe("values that do not change", () => {
  it("are not sent, and a change is sent at once, from a chain with four validators", async () => {
    const net = await startRelayedLocalnet({
      relayer: "queries: { skip_unchanged: 10000 }",
      remotePowers: [100n, 3n, 2n, 1n],
    });
    try {
      const addr = net.alice.remote.address;
      const id = await register(net, {
        register_balance_query: { connection_id: "connection-0", update_period: 1, addr, denom: "uatom" },
      });
      await vi.waitFor(() => expect(view(net, id)?.unchangedSince).toBeDefined(), WAIT);
      const before = view(net, id);
      const attempts: unknown = JSON.parse(await read(net, `/api/attempts?query_id=${id}&outcome=unchanged`));
      expect(attempts).toContainEqual(
        expect.objectContaining({ outcome: "unchanged", fee: "0", tx_hash: null }),
      );
      await net.send(net.alice.remote, sendMessage(CHAINS.remote, addr, consumerAddress(), 7n));
      await vi.waitFor(() => expect(view(net, id)?.results).toBe((before?.results ?? 0) + 1), WAIT);
      expect(view(net, id)?.lastLocalHeight).toBeGreaterThan(before?.lastLocalHeight ?? 0n);
    } finally {
      await net.stop();
    }
  });
});

describe("a remote chain with 100 validators", () => {
  it("is proven", async () => {
    const remotePowers = Array.from({ length: 100 }, (_, index) => BigInt(index + 1));
    const net = await startRelayedLocalnet({ remotePowers });
    try {
      await vi.waitFor(() => expect(view(net, 1n)?.results).toBeGreaterThanOrEqual(2), WAIT);
    } finally {
      await net.stop();
    }
  });
});
