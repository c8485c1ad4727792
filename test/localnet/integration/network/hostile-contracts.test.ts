import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import {
  createHostileRequests,
  FREE_QUERIES,
  type HostileRequests,
  REGISTRATION,
} from "../../../support/localnet/hostile-requests.ts";
import { PROFILE_PATH } from "../../../../src/workbench/profile/profile-json.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { type RelayedLocalnet, startRelayedLocalnet } from "../../../support/relayed-localnet.ts";
import { type Attack, ATTACK_NAMES, buildHostileContract } from "../../../support/vm/hostile-contracts.ts";

/** Gas of a transaction: enough for a call, and a quarter of a second of an attack. */
const GAS = "700000";
const QUERY_TIME_MS = 60;
const POINTER = "The Wasm memory address 4294967295 provided by the contract could not be dereferenced";

const profiles = {
  ...CHAINS,
  local: {
    ...CHAINS.local,
    queryTimeMs: QUERY_TIME_MS,
    settings: { ...CHAINS.local.settings, modules: FREE_QUERIES },
  },
};

let net: RelayedLocalnet;
let requests: HostileRequests;
/** Addresses by attack. */
const contracts = new Map<string, string>();

beforeAll(async () => {
  net = await startRelayedLocalnet({
    profiles,
    // A transaction is valid for 20 blocks, which a slow machine must not exceed.
    blockTimeMs: 400,
    contracts: ATTACK_NAMES.map((label) => ({
      code: buildHostileContract(label, REGISTRATION),
      init: {},
      label,
      admin: "operator",
    })),
    onContract: ({ label, address }) => void contracts.set(label, address),
  });
  requests = createHostileRequests(net.urls.local, net.clients.remote, GAS);
});
afterAll(async () => {
  requests.close();
  await net.stop();
});

/** What ends an attack that no block bounds. Some of them write, or use up the gas of a block before the time. */
const ENDED = new RegExp(`after ${QUERY_TIME_MS} ms of processor time|out of gas in location`);

const status = () =>
  net.running.chains.local?.view.status() ?? expect.unreachable("a localnet without its local chain");

async function expectNextBlock(): Promise<void> {
  const { latestHeight } = status();
  await expect.poll(() => status().latestHeight).toBeGreaterThan(latestHeight);
}

const addressOf = (attack: Attack): string =>
  contracts.get(attack) ?? expect.unreachable("a contract without an address");

/**
 * An attack that must be ended, and one that ends. `test/localnet/chain/wasm/hostile-contracts.test.ts` has every attack by every
 * entry.
 */
const ENDLESS_AND_NOT = ["loop", "pointer"] as const;
const rowsOf = <T>(entries: readonly T[], attacks: readonly Attack[] = ENDLESS_AND_NOT) =>
  entries.flatMap((entry) => attacks.map((attack) => ({ attack, entry })));

describe("a contract with an attack, over the network", () => {
  it.each([...rowsOf(["query"] as const, ATTACK_NAMES), ...rowsOf(["simulation", "gas auto"] as const)])(
    "$attack by a $entry ends with its reason",
    async ({ attack, entry }) => {
      const told = await requests[entry](addressOf(attack));
      if (attack === "pointer") expect(told).toContain(POINTER);
      else if (["small keys", "iterators between writes"].includes(attack))
        expect(told).toContain("Must not call a writing");
      else expect(told).toMatch(ENDED);
      await expectNextBlock();
    },
  );

  it.each(rowsOf(["transaction", "hook", "callback"] as const))(
    "$attack by a $entry ends with its gas",
    async ({ attack, entry }) => {
      expect(await requests[entry](addressOf(attack))).toContain(
        attack === "pointer" ? POINTER : "out of gas",
      );
      await expectNextBlock();
    },
  );

  it("by a callback of the relayer is the problem of its own query only", async () => {
    for (const attack of ATTACK_NAMES) {
      const own = () => net.relayer.status().queries.find(({ owner }) => owner === addressOf(attack));
      await expect.poll(() => own()?.failures).toBeGreaterThan(0);
      expect(own()?.error?.reason).toMatch(attack === "pointer" ? POINTER : ENDED);
    }
    const first = () => net.relayer.status().queries.find(({ id }) => id === 1n)?.results ?? 0;
    const before = first();
    await expect.poll(first).toBeGreaterThan(before);
  });
});

it("a command runs a simulation that ended at its deadline only once", async () => {
  const proxy = await startFaultProxy(net.urls.local);
  const paths: unknown[] = [];
  proxy.set({
    kind: "rewrite",
    result: ({ params }, result) => {
      paths.push(params["path"]);
      return result;
    },
  });
  const through = createHostileRequests(proxy.url, net.clients.remote, GAS);
  try {
    for (const name of ["gas auto", "simulation"] as const) {
      expect(await through[name](addressOf("loop"))).toContain(`after ${QUERY_TIME_MS} ms of processor time`);
    }
  } finally {
    through.close();
    await proxy.close();
  }
  expect(paths.filter((path) => path === "/cosmos.tx.v1beta1.Service/Simulate")).toHaveLength(2);
  expect(paths).not.toContain(PROFILE_PATH);
});
