import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { compensation } from "../../../src/watchdog/payment/payment-reader.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { startParts } from "../../support/localnet-parts.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";

const SOON = { timeout: 60_000 };

let lease: PortLease;
let home: string;
const stop = new AbortController();
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-oracle-"));
  vi.stubEnv("XDG_STATE_HOME", home);
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

afterAll(() => {
  stop.abort();
  vi.unstubAllEnvs();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

async function start(local: readonly bigint[] = [10n]): Promise<void> {
  const validators = { local, remote: [10n] };
  ends.push(await startParts(["local", "remote", "sidecar"], lease.offset, { validators }));
  await expect.poll(async () => Number((await chainPrice()).nonce), SOON).toBeGreaterThan(0);
}

async function localnet(...words: readonly string[]): Promise<void> {
  const { message } = await runCommand(
    ["localnet", ...words, "--port-offset", String(lease.offset)],
    stop.signal,
  );
  expect(message).toBeUndefined();
}

async function get(port: number, path: string) {
  return JSON.parse(await (await fetch(`http://127.0.0.1:${port}${path}`)).text());
}

const rest = (path: string) => get(portsAt(lease.offset).localRest, path);
const chainPrice = () => rest("/slinky/oracle/v1/get_price?currency_pair.Base=BTC&currency_pair.Quote=USD");
const sidecarPrice = async (): Promise<bigint> =>
  BigInt((await get(portsAt(lease.offset).prices, "/connect/oracle/v2/prices")).prices["BTC/USD"]);
const stats = async () => (await rest("/neutron/revenue/validators_stats")).stats;

/** Percent by which the chain's price is above the sidecar's. */
const deviation = async (): Promise<number> =>
  Number((BigInt((await chainPrice()).price.price) * 1000n) / (await sidecarPrice()) - 1000n) / 10;

describe("the price module", () => {
  it("stores the sidecar's prices in both forms, and says what it does not track", async () => {
    await start();
    expect(Math.abs(await deviation())).toBeLessThan(1);
    const { id, decimals } = await rest("/connect/oracle/v2/get_price?currency_pair=BTC/USD");
    expect({ id, decimals }).toEqual({ id: "1", decimals: "5" });
    const { prices } = await rest(
      "/slinky/oracle/v1/get_prices?currency_pair_ids=BTC/USD&currency_pair_ids=NTRN/USD",
    );
    expect(prices.map((one: { id: string }) => one.id)).toEqual(["1", "4"]);
    const unknown = await rest("/slinky/oracle/v1/get_price?currency_pair.Base=X&currency_pair.Quote=USD");
    expect(unknown).toMatchObject({ code: 2, message: expect.stringContaining("is not tracking this") });
    const { mappings } = await rest("/connect/oracle/v2/get_currency_pair_mapping_list");
    expect(mappings).toContainEqual({ id: "4", currency_pair: { Base: "NTRN", Quote: "USD" } });
  });

  it("keeps a price while its votes are missing", async () => {
    await start();
    await localnet("fault", "pair-missing");
    const tia = async () => (await rest("/connect/oracle/v2/get_price?currency_pair=TIA/USD")).nonce;
    const kept = async (): Promise<boolean> => {
      const [nonce, { nonce: btc }] = [await tia(), await chainPrice()];
      await expect.poll(async () => (await chainPrice()).nonce, SOON).not.toBe(btc);
      return (await tia()) === nonce;
    };
    await expect.poll(kept, SOON).toBe(true);
  });

  it("stores what the votes say, not what the own sidecar says", async () => {
    await start();
    await localnet("fault", "price-deviation");
    await expect.poll(deviation, SOON).toBeGreaterThan(9);
    await localnet("fault", "price-deviation", "--off");
    await expect.poll(async () => Math.abs(await deviation()), SOON).toBeLessThan(1);
  });

  it("has the prices of the others while the own sidecar has none, and counts the missed vote", async () => {
    await start([10n, 10n, 10n, 10n]);
    await localnet("fault", "all-prices-missing");
    await localnet("halt");
    await localnet("resume");
    const lost = async (): Promise<number> =>
      (await stats()).filter(
        ({ validator_info: one }: { validator_info: Record<string, string> }) =>
          Number(one["commited_oracle_votes_in_period"]) < Number(one["commited_blocks_in_period"]),
      ).length;
    await expect.poll(lost, SOON).toBe(1);
    const { nonce } = await chainPrice();
    await expect.poll(async () => (await chainPrice()).nonce, SOON).not.toBe(nonce);
  });
});

describe("faults of the chain", () => {
  it("upgrade-planned plans an upgrade, and cancels it when it is switched off", async () => {
    await start();
    const plan = async () => (await rest("/cosmos/upgrade/v1beta1/current_plan")).plan;
    expect(await plan()).toBeNull();
    await localnet("fault", "upgrade-planned");
    await expect.poll(plan, SOON).toMatchObject({ name: expect.stringMatching(/^fault-\d+$/) });
    await localnet("fault", "upgrade-planned", "--off");
    await expect.poll(plan, SOON).toBeNull();
  });

  it("jail-near takes the first validator's signatures, unless the chain would halt without them", async () => {
    await start([10n, 11n, 11n, 11n]);
    const missed = async (): Promise<readonly number[]> =>
      (await rest("/cosmos/slashing/v1beta1/signing_infos")).info.map(
        ({ missed_blocks_counter: count }: { missed_blocks_counter: string }) => Number(count),
      );
    await localnet("fault", "jail-near");
    await localnet("halt");
    await localnet("mine", "10");
    const lost = (await missed()).filter((count) => count > 0);
    expect(lost).toEqual([expect.toSatisfy((count: number) => count >= 9)]);
    await localnet("fault", "jail-near", "--off");
    await localnet("mine", "10");
    expect(Math.max(...(await missed()))).toBeLessThanOrEqual((lost[0] ?? 0) + 1);
  });

  it("payment-missing delays the payment of a month, and keeps the prices", async () => {
    await start();
    await localnet("halt");
    await localnet("time", "set", "2041-01-31T23:59:50Z");
    await localnet("mine", "3");
    await localnet("fault", "payment-missing");
    const paid = async (): Promise<number> =>
      (
        await get(
          portsAt(lease.offset).localRpc,
          `/block_search?query=${encodeURIComponent('"revenue_distribution.performance_rating EXISTS"')}`,
        )
      ).result.blocks.length;
    const before = [await paid(), (await chainPrice()).nonce];
    await localnet("mine", "5", "--interval", "10s");
    expect([await paid(), (await chainPrice()).nonce]).toEqual(before);
    await localnet("fault", "payment-missing", "--off");
    await localnet("mine", "2");
    expect(await paid()).toBe(Number(before[0]) + 1);
  });
});

describe("the month's payment", () => {
  it("is that of the module's formula, and a new month begins", async () => {
    await start();
    await localnet("halt");
    // The chain compares months without their year: the jump pays only into another month than this one.
    const [lastDay, ...firstDays] =
      new Date().getUTCMonth() < 6
        ? ["2041-08-31", "2041-09-01", "2041-10-01"]
        : ["2041-01-31", "2041-02-01", "2041-03-01"];
    await localnet("time", "set", `${lastDay}T23:59:50Z`);
    await localnet("mine", "3");
    await localnet("mine", "33", "--interval", "1d");
    const { params } = await rest("/neutron/revenue/params");
    const { blocks } = await get(
      portsAt(lease.offset).localRpc,
      `/block_search?query=${encodeURIComponent('"revenue_distribution.performance_rating EXISTS"')}&order_by="desc"`,
    ).then(({ result }) => result);
    const paid = blocks.map(
      (one: { block: { header: { height: string; time: string } } }) => one.block.header,
    );
    // Each first block of a month pays for the month before.
    expect(paid.map(({ time }: { time: string }) => time.slice(0, 10))).toEqual(
      [lastDay, ...firstDays].toReversed(),
    );
    expect(params.reward_quote).toEqual({ amount: "3000", asset: "USD" });
    const { result } = await get(portsAt(lease.offset).localRpc, `/block_results?height=${paid[0].height}`);
    const event = result.finalize_block_events.find(
      (one: { type: string }) => one.type === "revenue_distribution",
    );
    const of = (key: string): string =>
      event.attributes.find((one: { key: string }) => one.key === key).value;
    const inActiveSet = BigInt(of("in_active_valset_for_blocks_in_period"));
    const atPayment = await fetch(
      `http://127.0.0.1:${portsAt(lease.offset).localRest}/neutron/revenue/payment_info`,
      { headers: { "x-cosmos-block-height": paid[0].height } },
    );
    const { base_revenue_amount: base } = JSON.parse(await atPayment.text());
    const requirement = {
      allowed: parseDec18("0.005"),
      votes: parseDec18("0.02"),
      least: parseDec18("0.95"),
    };
    const expected = compensation(
      {
        params: {
          blocksAllowedToMiss: requirement.allowed,
          blocksRequired: requirement.least,
          votesAllowedToMiss: requirement.votes,
          votesRequired: requirement.least,
          baseCompensation: 3000n,
          quoteAsset: "USD",
          schedule: "monthly",
        },
        base: BigInt(base.amount),
        progress: parseDec18(of("effective_period_progress")),
        inActiveSet,
        totalBlocks: BigInt(of("total_block_in_period")),
      },
      { good: BigInt(of("committed_oracle_votes_in_period")), total: inActiveSet },
      { good: BigInt(of("committed_blocks_in_period")), total: inActiveSet },
    );
    expect(of("revenue_amount")).toBe(`${expected}untrn`);
    expect(expected).toBeGreaterThan(0n);
    const after = (await stats())[0].validator_info;
    expect(Number(after.in_active_valset_for_blocks_in_period)).toBeLessThan(5);
  });
});
