import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { signingWindow } from "../../../src/watchdog/policy/standing.ts";
import { createRest } from "../../../src/watchdog/sources/chain-rest.ts";
import type { PageReader } from "../../../src/watchdog/sources/page-reader.ts";
import { createPeersReader } from "../../../src/watchdog/sources/standing-reader.ts";
import { createSlashingReader } from "../../../src/watchdog/sources/slashing-reader.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { bodyOf } from "../../support/simulated-response.ts";

interface Call {
  readonly chain_id: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** Recorded from two real chains, see the file's README in the fixtures: test-1 signs, test-2 has a jailed validator. */
const CALLS: readonly Call[] = JSON.parse(
  readFileSync(new URL("../../fixtures/modules/rest.json", import.meta.url), "utf8"),
);
const SIGNER = "neutronvalcons1gpcqhylu99r9ym6t5akg4swjgj828a5gfcwdqk";
const JAILED = "neutronvalcons128wnc3u4643dg0xuy5ag6smnl208ufzfesd5z6";
/** A validator of test-1 that the recording has in the list of signing infos, and as jailed in the staking module. */
const REC2 = "neutronvalcons14juaf6cgvtnt2txjmksv9l86gdwpkvffqdqrfw";
const REC2_OPERATOR = "neutronvaloper1qnk2n4nlkpw9xfqntladh74w6ujtulwnqshepx";
const OPERATOR = "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr";

/** Responds as the recorded node did; other paths are 404. Pages are not recorded: the list has two entries. */
const recorded =
  (chainId: string): PageReader =>
  async (url) => {
    const { pathname } = new URL(url);
    const call = CALLS.find((one) => one.chain_id === chainId && one.path === pathname);
    return { status: call?.status ?? 404, body: bodyOf(call?.body ?? "Not Found") };
  };

const chain = { rest: "http://chain:1317", module: "neutron", pairs: [] };
const signal = new AbortController().signal;

function slashing(chainId: string, consensusAddress: string, operatorAddress?: string) {
  const target = {
    name: "v",
    nodes: [],
    egress: [],
    consensusAddress,
    ...(operatorAddress === undefined ? {} : { operatorAddress }),
  };
  const clock = createManualClock(Date.UTC(2026, 10, 21, 20, 40));
  return createSlashingReader(target, chain, createRest(chain, recorded(chainId)), clock)(signal);
}

describe("the recorded slashing module", () => {
  it("has the parameters, the signing info and the jail of a validator that signs", async () => {
    expect(CALLS).toHaveLength(116);
    const view = await slashing("test-1", SIGNER, OPERATOR);
    expect(view).toEqual({
      params: { windowBlocks: 100n, minSigned: 500_000_000_000_000_000n },
      info: {
        startHeight: 0n,
        indexOffset: 3061n,
        missedBlocks: 0n,
        jailedUntilMs: 0,
        isTombstoned: false,
      },
      isJailed: false,
    });
    if (view.info === undefined) throw new Error("there is a signing info");
    expect(signingWindow({ ...view, info: view.info, height: 3062n, growth: undefined })).toMatchObject({
      allowed: 50n,
      left: 50n,
      signed: { good: 100n, total: 100n },
      ifAllMissed: { least: 51n },
    });
  });

  it("has a jail for downtime, with the terms of its end as far as the chain tells them", async () => {
    // The parameters of test-2 are not in the recording: those of test-1 are the same defaults.
    const view = await slashing("test-1", SIGNER, REC2_OPERATOR);
    expect(view).toMatchObject({
      isJailed: true,
      unjail: { program: "neutrond", from: "neutron1qnk2n4nlkpw9xfqntladh74w6ujtulwn6dwq8z" },
    });
    const calls = CALLS.filter(({ path }) => path.endsWith(JAILED));
    expect(calls.map(({ body }) => JSON.parse(body).val_signing_info.jailed_until)).toEqual([
      "2026-11-21T20:46:19.461469889Z",
    ]);
  });

  it("says that a chain has no such module, and that an address was never in the set", async () => {
    await expect(slashing("test-2", JAILED)).rejects.toMatchObject({ facts: { code: "absent" } });
    const other = await slashing("test-1", JAILED);
    expect(other.info).toBeUndefined();
  });

  it("refuses an address of another kind as the chain does", async () => {
    await expect(slashing("test-1", OPERATOR)).rejects.toThrow("the source answered HTTP 500");
  });

  it("has the signed blocks of all, of which those in the set are compared", async () => {
    const target = { name: "v", nodes: [], egress: [], consensusAddress: SIGNER };
    const clock = createManualClock(5000);
    const read = createPeersReader(target, chain, createRest(chain, recorded("test-1")), clock);
    expect(await read(new Set([SIGNER]), signal)).toEqual({
      atMs: 5000,
      comparisons: [],
      notes: ["the set has no other validator to compare this one with"],
    });
    // Of the validator that left, no block is counted: it is not compared.
    const both = createPeersReader(target, chain, createRest(chain, recorded("test-1")), clock);
    expect((await both(new Set([SIGNER, REC2]), signal)).comparisons).toEqual([]);
  });
});
