import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { type CliResult, runCommand } from "../../support/cli-chain.ts";
import { consumerAddress } from "../../support/consumer-address.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const { signal } = new AbortController();
/** Clearly more than 15 million gas in each block, with the callbacks that the configuration allows. */
const QUERIES = 175;

/** On a busy machine the blocks of the two chains take different times for a while, and fewer results are due in each. */
const BUSY = { timeout: 60_000, interval: 300 };

const planSchema = z.object({
  source: z.string(),
  queries: z.number(),
  others_gas: z.coerce.number(),
  block_seconds: z.number(),
  demand_gas: z.coerce.number(),
  demand_above_market: z.boolean(),
  late_blocks: z.number(),
  fee_factor: z.coerce.number(),
  remedies: z.array(z.looseObject({ kind: z.string() })),
});

describe("plan and doctor at a local chain", () => {
  let net: RelayedLocalnet;
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-plan-"));
  beforeAll(async () => {
    // The relayer answers one query, so that its gas is small.
    net = await startRelayedLocalnet({ relayer: 'queries: { ids: ["1"] }' });
    // The contract deposits a coin for each query.
    const { local: alice } = net.alice;
    await net.send(alice, sendMessage(CHAINS.local, alice.address, consumerAddress(), 200_000_000n));
    for (let sent = 0; sent < QUERIES; sent += 35)
      await net.execute(
        ...Array.from({ length: 35 }, (_, index) => ({
          register_kv_query: {
            connection_id: "connection-0",
            update_period: 1,
            keys: [{ path: "bank", key: toBase64(utf8(`key${sent + index}`)) }],
          },
        })),
      );
    await vi.waitFor(() => expect(net.relayer.status().queries[0]?.results).toBeGreaterThan(2), {
      timeout: 60_000,
    });
  });
  afterAll(async () => {
    await net.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes the configuration of a relayer with this account. */
  function configOf(account: string, more = "", rpc = net.urls.local): string {
    const words = join(folder, `${account}.words`);
    writeFileSync(words, accountNamed(CHAINS.local, account).mnemonic);
    const file = join(folder, "relayer.yaml");
    writeFileSync(
      file,
      `chain: { id: local-1, rpc: ["${rpc}"] }
signer: { mnemonic: { file: ${words} } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${net.urls.remote}"] }]
${more}`,
    );
    return file;
  }

  const relayer = (...args: readonly string[]): Promise<CliResult> =>
    runCommand(["relayer", ...args], signal);

  async function planned(...args: readonly string[]) {
    const { out, message } = await relayer("plan", "--json", ...args);
    expect(message).toBeUndefined();
    return planSchema.parse(JSON.parse(out));
  }

  it("plans the registered queries at the chain's market", async () => {
    await vi.waitFor(async () => {
      const found = await planned("--config", configOf("bob"));
      expect(found).toMatchObject({ source: "chain", queries: QUERIES + 1, demand_above_market: true });
      // 30,000 for the key and 77,000 for the callback of each, as its simulation says; the consumer's first query is due less often.
      expect(found.demand_gas).toBeGreaterThan(QUERIES * 102_000);
      expect(found.demand_gas).toBeLessThan(QUERIES * 110_000 + 300_000);
      expect(found.late_blocks).toBeGreaterThan(0);
      expect(found.remedies.map(({ kind }) => kind)).toEqual([
        "longer-periods",
        "higher-ceiling",
        "fewer-callbacks",
      ]);
      expect(found.block_seconds).toBeGreaterThan(0.1);
      expect(found.block_seconds).toBeLessThan(2);
    }, BUSY);
  });

  it("measures the gas of others, without that of the relayer's own account", async () => {
    const othersOf = async (account: string): Promise<number> =>
      (await planned("--config", configOf(account))).others_gas;
    // The registrations are in recent blocks.
    await vi.waitFor(async () => expect(await othersOf("relayer")).toBe(0), {
      timeout: 60_000,
      interval: 300,
    });
    expect(await othersOf("bob")).toBeGreaterThan(10_000);
    expect(await planned("--config", configOf("bob"), "--others", "2M")).toMatchObject({ others_gas: 2e6 });
  });

  it("names a node that does not tell the gas of others", async () => {
    const proxy = await startFaultProxy(net.urls.local);
    proxy.set({
      kind: "error",
      data: "node is not persisting abci responses",
      only: ({ method }) => method === "block_results",
    });
    const file = configOf("bob", 'queries: { ids: ["1"] }', proxy.url);
    const { out } = await relayer("plan", "--config", file);
    expect(out).toMatch(/the target 15,000,000, less others 0$/m);
    expect(out).toContain("Others' gas is unknown");
    expect(JSON.parse((await relayer("plan", "--config", file, "--json")).out)).toMatchObject({
      others_gas: null,
    });
    expect(await planned("--config", file, "--others", "1M")).toMatchObject({ others_gas: 1e6 });
    const doctor = await relayer("doctor", "--config", file);
    expect(doctor.out).toMatch(/good {5}fee market: .* others use an unknown part/);
    expect(doctor.exitCode, doctor.out).toBe(0);
    await proxy.close();
  });

  it("plans other queries at the chain's market", async () => {
    const found = await planned(
      "--config",
      configOf("bob"),
      "--queries",
      "10",
      "--period",
      "10",
      "--others",
      "0",
    );
    expect(found).toMatchObject({ source: "chain", queries: 10, demand_gas: 223_500, late_blocks: 0 });
  });

  it("takes the gas of a running relayer's results, and what it paid for it", async () => {
    const { host, port } = await net.relayer.http.ready;
    const file = configOf("bob", 'queries: { ids: ["1"] }');
    const found = await planned("--config", file, "--url", `http://${host}:${port}`);
    const [query] = net.relayer.status().queries;
    const mean = Number(query?.cost?.gas ?? 0n) / (query?.results ?? 0);
    // Each result has a transaction and a client update of its own, and none is counted twice.
    expect(mean).toBeGreaterThan(150_000);
    expect(found.demand_gas / (mean / Number(query?.updatePeriod))).toBeGreaterThan(0.9);
    expect(found.demand_gas / (mean / Number(query?.updatePeriod))).toBeLessThan(1.1);
    const factor = Number(net.relayer.status().market?.feeFactor) / 1e18;
    expect(Math.abs(factor - 1.05)).toBeGreaterThan(0.001);
    expect(found.fee_factor / factor).toBeCloseTo(1, 1);
    expect(found.fee_factor).not.toBe(1.05);
    expect((await planned("--config", file)).fee_factor).toBe(1.05);
    expect(await relayer("plan", "--config", file, "--url", "http://127.0.0.1:1")).toMatchObject({
      exitCode: 3,
    });
  });

  it("serves fewer queries when the configuration says so", async () => {
    const file = configOf("bob", 'queries: { ids: ["1", "2"], allow_kv_callbacks: false }');
    const found = await planned("--config", file);
    expect(found).toMatchObject({ queries: 2, demand_above_market: false });
    expect(found.demand_gas).toBeLessThan(2 * 30_000 + 200_000);
    // Each result needs ten newer remote blocks.
    const slow = configOf(
      "bob",
      'queries: { ids: ["2"], allow_kv_callbacks: false, min_kv_update_period: "10" }',
    );
    expect((await planned("--config", slow)).demand_gas).toBeLessThan(50_000);
  });

  it("doctor finds a demand above the market, and a cap below its minimum", async () => {
    await vi.waitFor(async () => {
      const above = await relayer("doctor", "--config", configOf("bob"));
      expect(above).toMatchObject({ exitCode: 0 });
      expect(above.out).toMatch(
        /advice {3}demand: the KV queries need 17\d\.\d results per block \(1\d{7} gas\), the market bears 1\d\d\.\d .*: each will be \d\.\d blocks late, for \d{9,} untrn a day\n +→ use longer update periods/,
      );
      expect(above.out).toMatch(
        /good {5}fee market: price 0\.00\d+, minimum 0\.0025, target 15000000 gas per block/,
      );
    }, BUSY);
    const low = await relayer(
      "doctor",
      "--config",
      configOf("bob", 'gas: { max_price: "0.001" }\nqueries: { ids: ["1"] }'),
    );
    expect(low.out).toMatch(/PROBLEM {2}fee market: gas\.max_price is 0\.4 × the minimum: nothing is sent/);
    const unlimited = 'gas: { max_price: "1", price: { comfortable: "1" } }\nqueries: { ids: ["1"] }';
    expect((await relayer("doctor", "--config", configOf("bob", unlimited))).out).toMatch(
      /PROBLEM {2}fee market: gas\.price\.comfortable is not below gas\.max_price, which is 400\.0 × the minimum/,
    );
    expect(low.out).toMatch(/good {5}demand: the KV queries need [\d.]+ results/);
  });
});
