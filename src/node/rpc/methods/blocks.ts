import type { StoredBlock } from "../../node-view.ts";
import { commitToJson, headerToJson, validatorToJson } from "../../../comet/rpc-print.ts";
import { blockMetaJson, resultBlockJson } from "../block-json.ts";
import type { RpcContext, RpcMethod } from "../method.ts";
import { toHeight, toPage, toPerPage } from "../paging.ts";
import { blockResultsJson } from "../result-json.ts";
import { internal } from "../rpc-error.ts";

const MAX_BLOCK_METAS = 20n;

/** The block at a wished height, the latest by default. */
function blockAt(wish: bigint | undefined, context: RpcContext): StoredBlock {
  const { latestHeight, earliestHeight } = context.view.status();
  const height = toHeight(wish, latestHeight, earliestHeight);
  const block = context.view.block(height);
  if (block === undefined) throw internal(`could not find block at height ${height}`);
  return block;
}

/** Blocks, headers, commits, validators: what a light client and an explorer read. */
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
      const range = toMetaRange(parameters.int64("minHeight"), parameters.int64("maxHeight"), {
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

/** The heights that `blockchain` shows: newest first, at most 20. 0 and absent mean the open end. */
function toMetaRange(
  minWish: bigint | undefined,
  maxWish: bigint | undefined,
  chain: { readonly latest: bigint; readonly earliest: bigint },
): { readonly min: bigint; readonly max: bigint } {
  const wish = { min: minWish ?? 0n, max: maxWish ?? 0n };
  if (wish.min < 0n || wish.max < 0n) throw internal("heights must be non-negative");
  const max = wish.max === 0n || wish.max > chain.latest ? chain.latest : wish.max;
  const min = highest(wish.min === 0n ? 1n : wish.min, chain.earliest, max - MAX_BLOCK_METAS + 1n);
  if (min > max) throw internal(`min height ${min} can't be greater than max height ${max}`);
  return { min, max };
}

function highest(...heights: readonly bigint[]): bigint {
  return heights.reduce((a, b) => (b > a ? b : a));
}
