import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startLocalnet, type TestLocalnet } from "../../../src/cli/exports/testing.ts";
import { createChainClient, type PooledChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { TREASURY } from "../../../src/localnet/chain/modules/revenue/keeper.ts";
import { formatAddress, moduleAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { requireDone } from "../../../src/localnet/cli/localnet-scenario.ts";
import {
  createScenarioChain,
  type ScenarioChain,
} from "../../../src/localnet/cli/scenario/scenario-chain.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import type { JsonObject, JsonValue } from "../../../src/platform/base/json.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { nextMonthMs } from "../../../src/platform/base/month.ts";
import { DAY_MS, HOUR_MS } from "../../../src/platform/base/time.ts";
import { cellText, fieldAt, listAt } from "../../../src/platform/cli/table.ts";

// What takes weeks on a real chain, block by block. Nothing here depends on the relayer.

const { denom, bech32Prefix } = CHAINS.local;
const alice = accountNamed(CHAINS.local, "alice").address;
const treasury = formatAddress(bech32Prefix, moduleAddress(TREASURY));

let net: TestLocalnet;
let client: PooledChainClient;
let chain: ScenarioChain;
let beginning: number;

beforeAll(async () => {
  net = await startLocalnet({ relayer: false });
  const { signal } = new AbortController();
  client = createChainClient(
    { endpoints: [{ url: net.local.rpc }], chainId: net.local.id },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  chain = createScenarioChain(CHAINS.local, client, signal);
  await net.mineUntil(hasPrice);
  beginning = net.snapshot();
}, 240_000);
beforeEach(() => net.revert(beginning));
afterAll(async () => {
  client.close();
  await net.stop();
});

const at = (value: JsonValue, path: string): string => cellText(fieldAt(value, path));

/** Whether the votes have brought a price. */
async function hasPrice(): Promise<boolean> {
  const path = "/slinky/oracle/v1/get_price?currency_pair.Base=NTRN&currency_pair.Quote=USD";
  const reply = await fetch(`${net.local.rest}${path}`);
  return reply.ok && Number(JSON.parse(await reply.text()).nonce) > 0;
}

async function balanceOf(address: string): Promise<bigint> {
  return BigInt(
    at(await chain.ask("cosmos.bank.v1beta1.Query", "Balance", { address, denom }), "balance.amount"),
  );
}

/** Sends alice's message, and makes blocks until it is in one. */
async function send(type: string, fields: JsonObject): Promise<void> {
  let isDone = false;
  const sent = chain.send("alice", type, fields).finally(() => (isDone = true));
  await net.mineUntil(() => isDone);
  requireDone(await sent);
}

describe("a localnet plays block by block", () => {
  it("a month of the oracle's life with its payment", { timeout: 240_000 }, async () => {
    const stats = async () =>
      listAt(await chain.ask("neutron.revenue.Query", "ValidatorsStats", {}), "stats");
    const [count, votes] = [
      "validator_info.commited_blocks_in_period",
      "validator_info.commited_oracle_votes_in_period",
    ];
    const monthEndMs = nextMonthMs(net.now());
    await net.mine(1, monthEndMs - net.now());
    await net.mine(1);
    const monthAfterMs = nextMonthMs(net.now());
    await net.mine(3);
    const before = await balanceOf(treasury);
    const [first] = await stats();
    const blocks = Math.floor((monthAfterMs - net.now()) / (6 * HOUR_MS)) - 1;
    await net.mine(blocks, 6 * HOUR_MS);
    const [last] = await stats();
    // Blocks of a whole month, each with the votes and prices of the one before.
    expect(blocks).toBeGreaterThan(100);
    expect(Number(at(last ?? null, count)) - Number(at(first ?? null, count))).toBe(blocks);
    expect(Number(at(last ?? null, votes)) - Number(at(first ?? null, votes))).toBe(blocks);
    expect(await balanceOf(treasury)).toBe(before);
    await net.mine(4, 6 * HOUR_MS);
    expect(await balanceOf(treasury)).toBeLessThan(before);
    expect(Number(at((await stats())[0] ?? null, count))).toBeLessThan(4);
  });

  it("an unbonding of 21 days", { timeout: 240_000 }, async () => {
    const validators = await chain.ask("cosmos.staking.v1beta1.Query", "Validators", {});
    const stake = {
      delegator_address: alice,
      validator_address: at(listAt(validators, "validators")[0] ?? null, "operator_address"),
      amount: { denom, amount: "5000000" },
    };
    await send("cosmos.staking.v1beta1.MsgDelegate", stake);
    await send("cosmos.staking.v1beta1.MsgUndelegate", stake);
    const unbonding = async () =>
      listAt(
        await chain.ask("cosmos.staking.v1beta1.Query", "DelegatorUnbondingDelegations", {
          delegator_addr: alice,
        }),
        "unbonding_responses",
      ).length;
    const before = await balanceOf(alice);
    await net.mine(20, DAY_MS);
    expect([await unbonding(), await balanceOf(alice)]).toEqual([1, before]);
    await net.mine(2, DAY_MS);
    expect([await unbonding(), await balanceOf(alice)]).toEqual([0, before + 5_000_000n]);
  });

  it("a client that expires", { timeout: 240_000 }, async () => {
    const status = async () =>
      at(
        await chain.ask("ibc.core.client.v1.Query", "ClientStatus", { client_id: "07-tendermint-0" }),
        "status",
      );
    await net.mine(13, DAY_MS);
    expect(await status()).toBe("Active");
    await net.mine(3, DAY_MS);
    expect(await status()).toBe("Expired");
  });
});

it("a localnet runs only the daemons that the test asks for", async () => {
  expect([typeof net.relayer, typeof net.watchdog]).toEqual(["undefined", "string"]);
  const bare = await startLocalnet({ relayer: false, watchdog: false });
  await bare.mine();
  expect([bare.relayer, bare.watchdog]).toEqual([undefined, undefined]);
  await bare.stop();
});
