import { describe, expect, it } from "vitest";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { type BlockParams, ConsensusParams } from "../../src/cosmos/proto/gen/tendermint/types/params.ts";
import { QueryParamsResponse } from "../../src/cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import { ParamsResponse } from "../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { paramsToWire } from "../../src/cosmos/fee-market/market.ts";
import type { Params } from "../../src/cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import { defaultParams } from "../../src/localnet/chain/modules/feemarket/module.ts";
import { readBlockLimits } from "../../src/relayer/chain/local-queries.ts";

const FEE_MARKET = "/feemarket.feemarket.v1.Query/Params";
const CONSENSUS = "/cosmos.consensus.v1.Query/Params";
const NOT_SERVED = new ClientError(
  { code: "abci", path: "p", abciCode: 6, codespace: "sdk", log: "unknown query path" },
  "unknown query path",
);

const NOTHING = new Uint8Array();

const MARKET = defaultParams("untrn");
const feeMarket = (fields: Partial<Params>): Uint8Array =>
  ParamsResponse.encode({ params: { ...paramsToWire(MARKET), ...fields } }).finish();
const consensus = (block: BlockParams | undefined): Uint8Array =>
  QueryParamsResponse.encode({ params: { ...ConsensusParams.decode(NOTHING), block } }).finish();

function read(responses: Readonly<Record<string, Uint8Array | Error>>) {
  const grpcQuery = async (path: string): Promise<Uint8Array> => {
    const response = responses[path];
    if (response instanceof Error) throw response;
    return response ?? NOTHING;
  };
  return readBlockLimits({ grpcQuery }, new AbortController().signal);
}

describe("readBlockLimits", () => {
  const block = { maxBytes: 22_020_096n, maxGas: 40_000_000n };

  it("reads the fee market and the consensus parameters", async () => {
    expect(await read({ [FEE_MARKET]: feeMarket({}), [CONSENSUS]: consensus(block) })).toEqual({
      market: MARKET,
      utilization: 30_000_000n,
      gas: 40_000_000n,
      bytes: 22_020_096n,
    });
  });

  it("takes 0, -1 and a fee market that is off as no limit", async () => {
    const none = { market: undefined, utilization: undefined, gas: undefined, bytes: undefined };
    expect(
      await read({
        [FEE_MARKET]: feeMarket({ enabled: false }),
        [CONSENSUS]: consensus({ maxBytes: -1n, maxGas: -1n }),
      }),
    ).toEqual(none);
    const unlimited = consensus({ maxBytes: 0n, maxGas: 0n });
    expect(await read({ [FEE_MARKET]: feeMarket({ enabled: false }), [CONSENSUS]: unlimited })).toEqual(none);
  });

  it("does without a module that the chain does not have", async () => {
    expect(await read({ [FEE_MARKET]: NOT_SERVED, [CONSENSUS]: consensus(block) })).toEqual({
      market: undefined,
      utilization: undefined,
      gas: 40_000_000n,
      bytes: 22_020_096n,
    });
    expect(await read({ [FEE_MARKET]: feeMarket({}), [CONSENSUS]: NOT_SERVED })).toMatchObject({
      utilization: 30_000_000n,
      gas: undefined,
    });
    expect(await read({ [FEE_MARKET]: feeMarket({}), [CONSENSUS]: consensus(undefined) })).toMatchObject({
      gas: undefined,
      bytes: undefined,
    });
  });

  it("throws any other error: a limit that was not read is not the same as none", async () => {
    const lost = new ClientError({ code: "closed" }, "the connection is closed");
    await expect(read({ [FEE_MARKET]: lost, [CONSENSUS]: consensus(block) })).rejects.toBe(lost);
    const other = new Error("not decoded");
    await expect(read({ [FEE_MARKET]: feeMarket({}), [CONSENSUS]: other })).rejects.toBe(other);
  });
});
