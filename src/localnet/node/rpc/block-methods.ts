import { commitToJson, headerToJson, validatorToJson } from "../../../cosmos/comet/rpc-json.ts";
import type { StoredBlock } from "../base/node-view.ts";
import { type RpcContext, type RpcMethod, toHeight, toPage, toPerPage } from "./method.ts";
import { blockMetaJson, blockResultsJson, resultBlockJson } from "./result-json.ts";
import { internal } from "./rpc-error.ts";

/** CometBFT's fixed limit of `blockchain`. */
const MAX_BLOCK_METAS = 20n;

/** The block at the requested height; the latest block when there is none. */
function blockAt(requested: bigint | undefined, context: RpcContext): StoredBlock {
  const { latestHeight, earliestHeight } = context.view.status();
  const height = toHeight(requested, latestHeight, earliestHeight);
  const block = context.view.block(height);
  if (block === undefined) throw internal(`could not find block at height ${height}`);
  return block;
}

/** Methods for blocks, headers, commits and validators. */
export const BLOCK_METHODS: Readonly<Record<string, RpcMethod>> = {
  block: {
    parameters: [["height", "int64"]],
    call: (parameters, context) => resultBlockJson(blockAt(parameters.int64("height"), context)),
  },
  block_by_hash: {
    parameters: [["hash", "bytes"]],
    call: (parameters, { view }) => resultBlockJson(view.blockByHash(parameters.bytes("hash"))),
  },
  header: {
    parameters: [["height", "int64"]],
    call: (parameters, context) => ({
      header: headerToJson(blockAt(parameters.int64("height"), context).header),
    }),
  },
  header_by_hash: {
    parameters: [["hash", "hex"]],
    call: (parameters, { view }) => {
      const block = view.blockByHash(parameters.bytes("hash"));
      return { header: block === undefined ? null : headerToJson(block.header) };
    },
  },
  block_results: {
    parameters: [["height", "int64"]],
    call: (parameters, context) => {
      const { header } = blockAt(parameters.int64("height"), context);
      const results = context.view.results(header.height);
      if (results === undefined) throw internal(`could not find results for height #${header.height}`);
      return blockResultsJson(results, context.genesis.consensusParams);
    },
  },
  commit: {
    parameters: [["height", "int64"]],
    call: (parameters, context) => {
      const { header } = blockAt(parameters.int64("height"), context);
      const commit = context.view.commit(header.height);
      if (commit === undefined) throw internal(`could not find commit at height ${header.height}`);
      return {
        signed_header: { header: headerToJson(header), commit: commitToJson(commit) },
        // Canonical is a commit from the next block. The latest block has only the commit that this node saw.
        canonical: header.height < context.view.status().latestHeight,
      };
    },
  },
  validators: {
    parameters: [
      ["height", "int64"],
      ["page", "int64"],
      ["per_page", "int64"],
    ],
    call: (parameters, { view }) => {
      const { latestHeight, earliestHeight } = view.status();
      // The set for the next height is known already. CometBFT also returns that set when no height is given.
      const height = toHeight(parameters.int64("height"), latestHeight + 1n, earliestHeight);
      const validators = view.validators(height)?.validators ?? [];
      const perPage = toPerPage(parameters.int64("per_page"));
      const page = toPage(parameters.int64("page"), validators.length, perPage);
      const shown = validators.slice((page - 1) * perPage, page * perPage);
      return {
        block_height: height.toString(),
        validators: shown.map(validatorToJson),
        count: shown.length.toString(),
        total: validators.length.toString(),
      };
    },
  },
  blockchain: {
    parameters: [
      ["minHeight", "int64"],
      ["maxHeight", "int64"],
    ],
    call: (parameters, { view }) => {
      const { latestHeight, earliestHeight } = view.status();
      const range = toMetaRange(parameters.int64("minHeight") ?? 0n, parameters.int64("maxHeight") ?? 0n, {
        latest: latestHeight,
        earliest: earliestHeight,
      });
      const metas = [];
      for (let height = range.max; height >= range.min; height--) {
        const block = view.block(height);
        if (block !== undefined) metas.push(blockMetaJson(block));
      }
      return { last_height: latestHeight.toString(), block_metas: metas };
    },
  },
};

/**
 * The heights that `blockchain` returns, at most 20, after CometBFT's `filterMinMax`. A bound of 0 means the chain's
 * own bound. Throws `RpcError`.
 */
function toMetaRange(
  minHeight: bigint,
  maxHeight: bigint,
  chain: { readonly latest: bigint; readonly earliest: bigint },
): { readonly min: bigint; readonly max: bigint } {
  if (minHeight < 0n || maxHeight < 0n) throw internal("heights must be non-negative");
  const max = maxHeight === 0n || maxHeight > chain.latest ? chain.latest : maxHeight;
  const min = highest(minHeight === 0n ? 1n : minHeight, chain.earliest, max - MAX_BLOCK_METAS + 1n);
  if (min > max) throw internal(`min height ${min} can't be greater than max height ${max}`);
  return { min, max };
}

function highest(...heights: readonly bigint[]): bigint {
  return heights.reduce((a, b) => (b > a ? b : a));
}
