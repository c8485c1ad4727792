import { deflateSync } from "node:zlib";
import { BLOCK_ID_FLAG } from "../../../cosmos/comet/block-types.ts";
import { OracleVoteExtension } from "../../../cosmos/proto/gen/slinky/abci/v1/vote_extensions.ts";
import {
  GetCurrencyPairMappingResponse,
  GetPricesRequest,
  GetPricesResponse,
} from "../../../cosmos/proto/gen/slinky/oracle/v1/query.ts";
import { ExtendedCommitInfo } from "../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { BlockIDFlag } from "../../../cosmos/proto/gen/tendermint/types/validator.ts";
import { equalBytes } from "../../../platform/base/bytes.ts";
import { writeFrame, writeGobInt } from "../../chain/modules/oracle/module.ts";
import type { Application } from "../../chain/runtime/abci.ts";
import type { ChainState } from "../consensus/chain-state.ts";
import type { OracleOptions } from "./oracle-client.ts";

type Prices = ReadonlyMap<string, bigint>;

/** The price votes that a block carries. */
export type ExtendedCommits = ReturnType<typeof createExtendedCommits>;

interface ExtendedCommitDeps extends Pick<OracleOptions, "faults"> {
  readonly app: Pick<Application, "query">;
  /** Address of this node's validator. */
  readonly own: Uint8Array;
}

/** Voted price as a percentage of the sidecar's price while `price-deviation` is on. */
const DEVIATION_PERCENT = 110n;

const NOTHING = new Uint8Array(0);

/**
 * Creates the votes. Each of the other validators has its own sidecar, which always has prices: the current ones from this node's
 * sidecar, or else the last ones. A block made by hand uses the votes from the last timed block.
 */
export function createExtendedCommits({ app, own, faults }: ExtendedCommitDeps) {
  let ofOwn: Prices = new Map();
  let ofOthers: Prices = new Map();
  const read = (path: string, data: Uint8Array): Uint8Array =>
    app.query({ path: `/slinky.oracle.v1.Query/${path}`, data, height: 0n, prove: false }).value;
  const extensionOf = (prices: Prices): Uint8Array => {
    if (prices.size === 0) return NOTHING;
    const { currencyPairMapping } = GetCurrencyPairMappingResponse.decode(
      read("GetCurrencyPairMapping", NOTHING),
    );
    const pairs = [...currencyPairMapping.values()].map(({ Base, Quote }) => `${Base}/${Quote}`);
    const request = GetPricesRequest.encode({ currencyPairIds: pairs }).finish();
    const stored = GetPricesResponse.decode(read("GetPrices", request)).prices;
    const deltas = stored.flatMap(({ id, price }, index) => {
      const voted = prices.get(pairs[index]?.toLowerCase() ?? "");
      if (voted === undefined) return [];
      const seen = faults?.has("price-deviation") ? (voted * DEVIATION_PERCENT) / 100n : voted;
      return [[id, writeGobInt(seen - BigInt(price?.price ?? "0"))] as const];
    });
    return deflateSync(OracleVoteExtension.encode({ prices: new Map(deltas) }).finish());
  };
  return {
    /** Sets the prices that this node's validator votes for from now on. If empty, it votes without prices. */
    extend: (prices: Prices) => {
      ofOwn = prices;
      if (prices.size > 0) ofOthers = prices;
    },
    /** Returns the next block's first transaction: the votes on the last block. Undefined while a fault suppresses the votes. */
    next: ({ lastCommit, lastValidators }: ChainState): Uint8Array | undefined => {
      if (faults?.has("payment-missing")) return undefined;
      const others = extensionOf(ofOthers);
      const isEmpty = faults?.has("payment-differs") || faults?.has("pre-block-error");
      const votes = lastValidators.validators.map(({ address, power }, index) => {
        const isOwn = equalBytes(address, own);
        const isAbsent =
          lastCommit.signatures[index]?.flag !== BLOCK_ID_FLAG.commit ||
          (isOwn && faults?.has("vote-extensions-missing") === true);
        const voted = isOwn ? (isEmpty ? NOTHING : ofOwn === ofOthers ? others : extensionOf(ofOwn)) : others;
        return {
          validator: { address, power },
          voteExtension: isAbsent ? NOTHING : voted,
          extensionSignature: NOTHING,
          blockIdFlag: isAbsent ? BlockIDFlag.BLOCK_ID_FLAG_ABSENT : BlockIDFlag.BLOCK_ID_FLAG_COMMIT,
        };
      });
      return writeFrame(ExtendedCommitInfo.encode({ round: lastCommit.round, votes }).finish());
    },
  };
}
