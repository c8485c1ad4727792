import { describe, expect, it } from "vitest";
import { toHex } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { AUTHORITY, createStakeWorld, type StakeWorld } from "../../../support/stake-world.ts";
import { account, consensusKey, operator, stakeMessages, stakeParams } from "../../../support/stake-cast.ts";
import { startTestChain, testGenesis } from "../../../support/test-chain.ts";

const PATH = "/cosmos.staking.v1beta1.Query/HistoricalInfo";

function infoAt(query: StakeWorld["query"], height: number): JsonValue | string {
  try {
    const request = messageFromJson("cosmos.staking.v1beta1.QueryHistoricalInfoRequest", { height });
    return messageToJson("cosmos.staking.v1beta1.QueryHistoricalInfoResponse", query(PATH, request));
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

/** The message that sets the number of entries. */
function withEntries(entries: number): { readonly "@type": string; readonly params: JsonObject } {
  const { "@type": type, params, ...message } = stakeParams(AUTHORITY, 7);
  if (typeof type !== "string" || !isRecord(params)) throw new Error("no params");
  return { ...message, "@type": type, params: { ...params, historical_entries: entries } };
}

function worldWith(entries: number): {
  readonly world: StakeWorld;
  readonly block: (work?: () => void) => void;
} {
  const balances = (["a", "b"] as const).map((name) => ({
    address: account(name),
    coins: [{ denom: "untrn", amount: "100000000" }],
  }));
  const { params } = withEntries(entries);
  const world = createStakeWorld({ bank: { balances }, staking: { params } }, 0n);
  let height = 0n;
  return {
    world,
    block: (work) => {
      height += 1n;
      world.block({ height, timeNs: height * 1_000_000_000n }, [], work);
    },
  };
}

function heights(world: StakeWorld): readonly number[] {
  return world
    .dump("staking")
    .filter(([key]) => key.startsWith("50"))
    .map(([key]) => Number(Buffer.from(key.slice(2), "hex").readBigUInt64BE()));
}

describe("headers and active sets of past blocks", () => {
  it("are kept for as many heights as the parameter says, also when it becomes smaller", () => {
    const { world, block } = worldWith(3);
    for (let count = 0; count < 12; count += 1) block();
    expect(heights(world)).toEqual([10, 11, 12]);
    expect(infoAt(world.query, 9)).toBe("historical info for height 9 not found");
    expect(infoAt(world.query, 0)).toBe("historical info for height 0 not found");
    expect(infoAt(world.query, -1)).toBe("height cannot be negative");
    block(() => world.run(withEntries(1)));
    block();
    expect(heights(world)).toEqual([14]);
    block(() => world.run(withEntries(0)));
    block();
    // As in the SDK, what the last block with a number stored stays.
    expect(heights(world)).toEqual([15]);
  });

  it("have the set of the block before, highest power first", () => {
    const { world, block } = worldWith(10);
    block(() => {
      world.run(stakeMessages.create("a", 2_000_000));
      world.run(stakeMessages.create("b", 5_000_000));
    });
    block();
    const first = infoAt(world.query, 1);
    expect(isRecord(first) && isRecord(first["hist"]) && first["hist"]["valset"]).toEqual([]);
    expect(infoAt(world.query, 2)).toMatchObject({
      hist: {
        header: { height: "2", chain_id: "test-1", time: "1970-01-01T00:00:02Z" },
        valset: [{ tokens: "5000000" }, { tokens: "2000000" }],
      },
    });
  });

  it("have validators of the same power in the order of their consensus addresses", () => {
    const { world, block } = worldWith(10);
    block(() => {
      const [one, other] = [stakeMessages.create("a", 3_000_000), stakeMessages.create("b", 3_000_000)];
      const keys = [one["pubkey"] ?? null, other["pubkey"] ?? null] as const;
      // With the key of the other, so that the order differs from that of the operators, which is that of the store.
      world.run({ ...one, pubkey: keys[1] });
      world.run({ ...other, pubkey: keys[0] });
    });
    block();
    expect(toHex(consensusKey("a").address) < toHex(consensusKey("b").address)).toBe(true);
    expect(infoAt(world.query, 2)).toMatchObject({
      hist: { valset: [{ operator_address: operator("b") }, { operator_address: operator("a") }] },
    });
  });

  it("have the hashes that the node puts into the header", () => {
    const chain = startTestChain(testGenesis([]));
    const { appHash } = chain.block();
    const nextValidatorsHash = new Uint8Array(32).fill(7);
    const request = { ...chain.nextRequest(), nextValidatorsHash };
    chain.app.finalizeBlock(request);
    chain.app.commit();
    const query: StakeWorld["query"] = (path, data) =>
      chain.app.query({ path, data, height: 0n, prove: false }).value;
    expect(infoAt(query, Number(request.height))).toMatchObject({
      hist: {
        header: {
          app_hash: Buffer.from(toHex(appHash), "hex").toString("base64"),
          next_validators_hash: Buffer.from(nextValidatorsHash).toString("base64"),
          proposer_address: Buffer.from(request.proposerAddress).toString("base64"),
        },
      },
    });
  });
});
