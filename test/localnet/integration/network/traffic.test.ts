import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DEC18_ONE, mulDec18, parseDec18 } from "../../../../src/platform/base/decimal.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { AuthInfo, TxRaw } from "../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { QueryCodesResponse } from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { State as WireState } from "../../../../src/cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import {
  StateRequest,
  StateResponse,
} from "../../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { runLocalnet } from "../../../../daemons/localnet/main.ts";
import { portsAt } from "../../../../src/platform/base/localnet-defaults.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { leasePorts } from "../../../support/port-lease.ts";
import { createLocalnet } from "../../../../src/localnet/network/create-localnet.ts";
import { accountNamed, CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import {
  createTraffic,
  registerTrafficMetrics,
  type Traffic,
} from "../../../../src/localnet/traffic/traffic.ts";
import type { NodeView, StoredResults } from "../../../../src/localnet/node/base/node-view.ts";
import type { RunningNode } from "../../../../src/localnet/node/create-node.ts";

const free = (portOption: string) => ({ host: "127.0.0.1", port: 0, portOption });
/** Patience on a busy machine. */
const SOON = { timeout: 60_000, interval: 2 };
const STATE = "/feemarket.feemarket.v1.Query/State";
const MAXIMUM = 30_000_000n;
const TARGET = MAXIMUM / 2n;
const LEARNING_RATE = parseDec18("0.125");

let node: RunningNode;
const stop = new AbortController();
let done: Promise<void>;
let running: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const localnet = createLocalnet(
    {
      chains: {
        local: { rpc: free("--local-rpc"), validatorPowers: [10n] },
        remote: { rpc: free("--remote-rpc"), validatorPowers: [10n] },
      },
      blockTimeMs: 60_000,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    { clock: systemClock, logger: silentLogger },
  );
  done = localnet.run(stop.signal);
  done.catch(() => {});
  const { local } = (await localnet.ready).chains;
  if (local === undefined) throw new Error("the local chain does not run");
  node = local;
  // The test makes each block itself.
  await vi.waitFor(() => expect(node.view.status().latestHeight).toBeGreaterThan(0n), SOON);
  node.control.halt();
});

afterAll(async () => {
  stop.abort(new Error("test over"));
  await done;
});

afterEach(async () => {
  await Promise.all(running.map((end) => end()));
  running = [];
  // The next test begins with an empty mempool.
  node.control.produce(1);
});

/** Runs traffic over a view until the test ends. `end` resolves with the error of `run`. */
function start(
  gasPerBlock: bigint,
  view: NodeView = node.view,
  isBusy: () => boolean = () => false,
): { traffic: Traffic; end: () => Promise<unknown> } {
  const traffic = createTraffic(
    { gasPerBlock, faults: { has: (name) => name === "busy-market" && isBusy() } },
    { node: Promise.resolve({ view }), clock: systemClock, logger: silentLogger },
  );
  const own = new AbortController();
  const reason = new Error("test over");
  const result = traffic.run(own.signal).then(
    () => undefined,
    (error: unknown) => (error === reason ? undefined : error),
  );
  const end = async (): Promise<unknown> => {
    own.abort(reason);
    return result;
  };
  running.push(end);
  return { traffic, end };
}

function readPrice(): bigint {
  const data = StateRequest.encode({}).finish();
  const { state } = StateResponse.decode(
    node.view.query({ path: STATE, data, height: 0n, prove: false }).value,
  );
  return BigInt(state?.baseGasPrice ?? 0);
}

/** Makes a block when `pending` transactions are in the mempool. Returns the gas that its price change implies. */
async function makeBlock(pending: number): Promise<bigint> {
  await vi.waitFor(() => expect(node.view.unconfirmed(10).count).toBe(pending), SOON);
  const before = readPrice();
  node.control.produce(1);
  const change = (readPrice() * DEC18_ONE) / before - DEC18_ONE;
  return TARGET + (change * TARGET) / LEARNING_RATE;
}

/** The gas of blocks, each made when the traffic's transaction is in the mempool. */
async function makeBlocks(count: number): Promise<readonly bigint[]> {
  const all: bigint[] = [];
  for (let block = 0; block < count; block++) all.push(await makeBlock(1));
  return all;
}

function within(gas: bigint, expected: bigint, percent: bigint): boolean {
  const deviation = gas > expected ? gas - expected : expected - gas;
  return deviation * 100n <= expected * percent;
}

/** The result of a broadcast with this code. */
function checked(code: number): ReturnType<NodeView["broadcast"]> {
  const check = {
    code,
    codespace: "sdk",
    log: "",
    data: new Uint8Array(),
    gasWanted: 0n,
    gasUsed: 0n,
    events: [],
  };
  return { hash: new Uint8Array(32), check };
}

/** Creates a copy of the view whose mempool holds everything and gives nothing to blocks. */
function stuckMempool(): { readonly view: NodeView; readonly txs: Uint8Array[] } {
  const txs: Uint8Array[] = [];
  const view: NodeView = {
    ...node.view,
    broadcast: (tx) => {
      txs.push(tx);
      return checked(0);
    },
    unconfirmed: () => ({ count: txs.length, bytes: 0, txs }),
  };
  return { view, txs };
}

function withPrice(view: NodeView, price: () => bigint): NodeView {
  return {
    ...view,
    query: (request) => {
      const response = view.query(request);
      if (request.path !== STATE) return response;
      const state = { ...WireState.decode(new Uint8Array()), baseGasPrice: price().toString() };
      return { ...response, value: StateResponse.encode({ state }).finish() };
    },
  };
}

function feeOf(tx: Uint8Array): { readonly amount: bigint; readonly gasLimit: bigint } {
  const { fee } = AuthInfo.decode(TxRaw.decode(tx).authInfoBytes);
  return { amount: BigInt(fee?.amount[0]?.amount ?? 0), gasLimit: fee?.gasLimit ?? 0n };
}

it("runs in the process of the localnet, whose control API counts its gas", async () => {
  const lease = await leasePorts();
  const own = new AbortController();
  const ports = portsAt(lease.offset);
  const daemon = runLocalnet(
    {
      parts: ["local", "remote"],
      ports,
      home: undefined,
      keepBlocks: undefined,
      blockTimeMs: 200,
      validators: { local: [10n], remote: [10n] },
      trafficGas: 8_000_000n,
      access: { hosts: [], origins: [] },
      controlToken: new Secret("test-token"),
    },
    {
      signal: own.signal,
      logger: silentLogger,
      clock: systemClock,
      random: Math.random,
      build: { name: "relaywatch", version: "0", commit: undefined, nodeVersion: "v20" },
    },
    () => {},
  );
  try {
    await vi.waitFor(async () => {
      const page = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text();
      const gas = /^relaywatch_localnet_traffic_gas_total (\d+)$/m.exec(page)?.[1];
      expect(Number(gas)).toBeGreaterThan(8_000_000 * 3);
    }, SOON);
  } finally {
    own.abort(new Error("test over"));
    await daemon;
    lease.release();
  }
});

/** Creates a copy of the view whose chain lacks the traffic's contract code. */
function withoutContract(): NodeView {
  return {
    ...node.view,
    query: (request) => {
      const response = node.view.query(request);
      if (!request.path.endsWith("/Codes")) return response;
      return {
        ...response,
        value: QueryCodesResponse.encode({ codeInfos: [], pagination: undefined }).finish(),
      };
    },
  };
}

describe("traffic", () => {
  it("uses its gas in each block, also when the price rises, and again after a restart", async () => {
    const rising = start(25_000_000n);
    // The first transaction creates the contract, the second one shows the gas of a call.
    await makeBlocks(2);
    const risen = await makeBlocks(48);
    for (const gas of risen) expect(within(gas, 25_000_000n, 1n), gas.toString()).toBe(true);
    expect(readPrice()).toBeGreaterThan(40n * parseDec18("0.0025"));
    expect(within(rising.traffic.gas(), 25_000_000n * 49n, 1n)).toBe(true);
    const registry = new Registry();
    registerTrafficMetrics(registry, rising.traffic);
    expect(await registry.metrics()).toContain(
      `relaywatch_localnet_traffic_gas_total ${rising.traffic.gas()}`,
    );
    await rising.end();
    await makeBlock(1);

    start(8_000_000n);
    const fallen = await makeBlocks(50);
    for (const gas of fallen) expect(within(gas, 8_000_000n, 1n), gas.toString()).toBe(true);
  });

  it.each([500_000n, MAXIMUM])("of %s gas is exact within a percent", async (gasPerBlock) => {
    // The price must be above the minimum, so that each block shows its gas.
    const before = start(25_000_000n);
    await makeBlocks(20);
    await before.end();
    await makeBlock(1);
    start(gasPerBlock);
    await makeBlocks(1);
    for (const gas of await makeBlocks(8)) expect(within(gas, gasPerBlock, 1n), gas.toString()).toBe(true);
  });

  it("has at most two transactions pending while blocks do not include them", async () => {
    const { view, txs } = stuckMempool();
    start(8_000_000n, view);
    for (let block = 0; block < 6; block++) {
      const expected = Math.min(block + 1, 2);
      await vi.waitFor(() => expect(txs.length).toBe(expected), SOON);
      node.control.produce(1);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(txs.length).toBe(2);
  });

  it("sends again after a rejected transaction and one that the mempool lost", async () => {
    const outcomes = ["rejected", "lost"];
    const view: NodeView = {
      ...node.view,
      broadcast: (tx) => {
        const outcome = outcomes.shift();
        return outcome === undefined ? node.view.broadcast(tx) : checked(outcome === "lost" ? 0 : 13);
      },
    };
    const { traffic } = start(8_000_000n, view);
    for (const left of [1, 0]) {
      await vi.waitFor(() => expect(outcomes.length).toBe(left), SOON);
      node.control.produce(1);
    }
    await makeBlock(1);
    await makeBlock(1);
    expect(within(traffic.gas(), 16_000_000n, 1n)).toBe(true);
  });

  it("pays a price of up to 1,000 times the minimum, and then waits", async () => {
    let price = parseDec18("1");
    const { view, txs } = stuckMempool();
    start(
      8_000_000n,
      withPrice(view, () => price),
    );
    const paid = async (count: number): Promise<bigint> => {
      await vi.waitFor(() => expect(txs.length).toBe(count), SOON);
      const { amount, gasLimit } = feeOf(txs[count - 1] ?? new Uint8Array());
      return (amount * DEC18_ONE) / gasLimit;
    };
    expect(await paid(1)).toBe(mulDec18(price, parseDec18("1.3")));
    price = parseDec18("2.5");
    node.control.produce(1);
    expect(await paid(2)).toBe(price);
    price += 1n;
    txs.length = 0;
    for (let block = 0; block < 3; block++) {
      node.control.produce(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(txs).toEqual([]);
    price -= 1n;
    node.control.produce(1);
    expect(await paid(1)).toBe(price);
  });

  it("cannot be more than the fee market allows", async () => {
    const failed = createTraffic(
      { gasPerBlock: MAXIMUM + 1n },
      { node: Promise.resolve(node), clock: systemClock, logger: silentLogger },
    ).run(new AbortController().signal);
    await expect(failed).rejects.toMatchObject({
      facts: { code: "traffic-too-much", maximum: MAXIMUM },
      message: expect.stringContaining("--traffic 30000001 exceeds"),
    });
  });

  it("uses the market's target while the fault busy-market is on", async () => {
    const rising = start(25_000_000n);
    await makeBlocks(12);
    await rising.end();
    await makeBlock(1);
    let isBusy = true;
    start(0n, node.view, () => isBusy);
    await makeBlock(1);
    const before = readPrice();
    for (const gas of await makeBlocks(5)) expect(within(gas, TARGET, 1n), gas.toString()).toBe(true);
    // At the target, the price stays.
    expect(within(readPrice(), before, 1n)).toBe(true);
    await vi.waitFor(() => expect(node.view.unconfirmed(10).count).toBe(1), SOON);
    isBusy = false;
    node.control.produce(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await makeBlock(0)).toBeLessThan(300_000n);
  });

  it("sends nothing without its gas and without a fault", async () => {
    const { view, txs } = stuckMempool();
    start(0n, view);
    for (let block = 0; block < 3; block++) {
      node.control.produce(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(txs).toEqual([]);
  });

  it("of a fault needs the contract, and a chain of an earlier version goes on without it", async () => {
    const { traffic, end } = start(0n, withoutContract(), () => true);
    for (let block = 0; block < 3; block++) node.control.produce(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(traffic.gas()).toBe(0n);
    expect(await end()).toBeUndefined();
  });

  it("says that a chain of an earlier version lacks the contract", async () => {
    const view = withoutContract();
    const failed = createTraffic(
      { gasPerBlock: 8_000_000n },
      { node: Promise.resolve({ view }), clock: systemClock, logger: silentLogger },
    ).run(new AbortController().signal);
    await expect(failed).rejects.toMatchObject({ facts: { code: "traffic-without-contract" } });
  });

  it("is sent by its own account only", async () => {
    const results: StoredResults[] = [];
    const remove = node.view.onBlock((_block, result) => void results.push(result));
    start(8_000_000n);
    await makeBlock(1);
    remove();
    const address = accountNamed(CHAINS.local, "traffic").address;
    expect(
      JSON.stringify(results[0]?.txResults[0]?.events.filter(({ type }) => type === "message")),
    ).toContain(address);
  });
});
