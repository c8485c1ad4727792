import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalnet } from "../../../src/localnet/network/create-localnet.ts";
import { createRestServer } from "../../../src/localnet/node/rest/rest-server.ts";
import type { RunningNode } from "../../../src/localnet/node/create-node.ts";
import { encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { type Standing, standingOf } from "../../../src/watchdog/policy/standing.ts";
import { createChainReader } from "../../../src/watchdog/sources/chain-reader.ts";
import { createHttpPageReader, createScrape } from "../../../src/watchdog/sources/page-reader.ts";

const free = (portOption: string) => ({ host: "127.0.0.1", port: 0, portOption });
const stop = new AbortController();
const reader = createHttpPageReader();
let node: RunningNode;
let done: Promise<void>;
/** Reads the chain as a poll does. */
let poll: () => Promise<Standing>;
let own: Uint8Array;

beforeAll(async () => {
  const localnet = createLocalnet(
    {
      // Without the first one, three quarters of the power still make blocks.
      chains: {
        local: { rpc: free("--rpc"), validatorPowers: [21n, 20n, 20n, 20n] },
        remote: { rpc: free("--remote"), validatorPowers: [10n] },
      },
      blockTimeMs: 60_000,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    {
      clock: systemClock,
      logger: silentLogger,
      servers: () => [
        createRestServer(
          { ...free("--rest"), chainName: "neutron" },
          { clock: systemClock, logger: silentLogger },
        ),
      ],
    },
  );
  done = localnet.run(stop.signal);
  done.catch(() => {});
  node = (await localnet.ready).chains.local ?? expect.unreachable("no local chain");
  own = node.view.validators(1n)?.validators[0]?.address ?? expect.unreachable("no validator");
  const target = {
    name: "v",
    nodes: [],
    egress: [],
    consensusAddress: encodeBech32("neutronvalcons", own),
    chain: { rest: `http://127.0.0.1:${node.ports.get("rest")}`, module: "neutron", pairs: [] },
  };
  const read = createChainReader(target, reader.read, createScrape(10_000, systemClock), systemClock);
  poll = async () => {
    const chain = await read(undefined, stop.signal);
    return standingOf({ validator: "v", atMs: systemClock.nowMs(), nodes: [], chain }, 1000);
  };
});

afterAll(async () => {
  stop.abort(new Error("the test is over"));
  await done;
  await reader.close();
});

describe("a validator of a running chain", () => {
  it("signs, among others that sign", async () => {
    node.control.produce(150);
    await poll();
    expect(await poll()).toMatchObject({
      jail: { state: "active" },
      window: { windowBlocks: 100n, counted: 100n, missed: 0n, allowed: 50n, left: 50n },
      windowNote: undefined,
      commits: { missed: 0, others: 3, missing: 0 },
      peers: {
        comparisons: [{ measure: "signing", rank: 1, compared: 4, notBetter: 3 }],
        notes: ["the configuration has no operator_address"],
      },
    });
  });

  it("is jailed in exactly the predicted block, and misses alone", async () => {
    node.control.setAbsent([own]);
    node.control.produce(11);
    const { window, commits } = await poll();
    // The commit of the newest block is not counted yet.
    expect(window).toMatchObject({ missed: 10n, left: 40n, ifAllMissed: { least: 41n, most: 51n } });
    expect(commits).toMatchObject({ missed: 1, missing: 0, power: { others: 60n, missing: 0n } });
    node.control.produce(40);
    expect(await poll()).toMatchObject({ jail: { state: "active" }, window: { missed: 50n, left: 0n } });
    node.control.produce(1);
    const { jail, window: after, windowNote } = await poll();
    const block = node.view.block(node.view.status().latestHeight);
    const timeMs = Number((block?.header.timeNs ?? 0n) / 1_000_000n);
    expect(jail).toEqual({
      state: "jailed",
      untilMs: timeMs + 600_000,
      command: expect.stringMatching(
        /^neutrond tx slashing unjail --from OPERATOR --chain-id local-1 --gas auto --gas-adjustment 1\.5 --gas-prices 0\.00275untrn$/,
      ),
    });
    expect([after, windowNote]).toEqual([undefined, expect.stringContaining("the validator is jailed")]);
  });

  it("leaves the set, and is not compared any more", async () => {
    node.control.produce(3);
    const { commits, peers, jail } = await poll();
    expect([commits, jail.state]).toEqual([undefined, "jailed"]);
    expect(peers.comparisons).toHaveLength(1);
  });
});
