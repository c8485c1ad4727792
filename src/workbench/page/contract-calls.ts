import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import * as wire from "../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { fromLossyUtf8, sha256, upperHex } from "../../platform/base/bytes.ts";
import type { TxResult } from "../../localnet/chain/runtime/abci.ts";
import type { NodeView, StoredBlock, StoredResults } from "../../localnet/node/base/node-view.ts";

/** A transaction that called contracts. */
export interface ContractCall {
  /** Upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
  readonly index: number;
  /** Called contracts, bech32; empty if the first call failed to find one. */
  readonly contracts: readonly string[];
  /** What each message does: `execute {"a":1}`, or the type of a message of another module. */
  readonly messages: readonly string[];
  /** A user called the contract; otherwise a module did. */
  readonly isDirect: boolean;
  readonly gasUsed: bigint;
  /** 0: success. */
  readonly code: number;
  readonly log: string;
}

/** The last transactions that called contracts, newest first. */
export interface ContractCalls {
  readonly list: () => readonly ContractCall[];
  /** Reads the last blocks, and follows the chain until the returned function is called. */
  readonly follow: (view: NodeView) => () => void;
}

/** Calls that are listed. Those of modules, such as results for contracts, have a list of their own, because they are many. */
const MAX_DIRECT = 50;
const MAX_OTHERS = 10;
/** Blocks that are read at the start. */
const FIRST_BLOCKS = 200n;
/** Longest text of a message. */
const MAX_TEXT = 300;

export function createContractCalls(): ContractCalls {
  let direct: readonly ContractCall[] = [];
  let others: readonly ContractCall[] = [];
  const record = (block: StoredBlock, results: StoredResults): void => {
    const calls = block.txs.flatMap((tx, index) => {
      const result = results.txResults[index];
      return result === undefined ? [] : (callOf(tx, result, { height: results.height, index }) ?? []);
    });
    for (const call of calls) {
      if (call.isDirect) direct = [call, ...direct].slice(0, MAX_DIRECT);
      else others = [call, ...others].slice(0, MAX_OTHERS);
    }
  };
  return {
    list: () => [...direct, ...others].toSorted((a, b) => Number(b.height - a.height) || b.index - a.index),
    follow: (view) => {
      const stop = view.onBlock(record);
      const { latestHeight, earliestHeight } = view.status();
      const first =
        latestHeight - FIRST_BLOCKS > earliestHeight ? latestHeight - FIRST_BLOCKS : earliestHeight;
      for (let height = first; height <= latestHeight; height++) {
        const [block, results] = [view.block(height), view.results(height)];
        if (block !== undefined && results !== undefined) record(block, results);
      }
      return stop;
    },
  };
}

interface Place {
  readonly height: bigint;
  readonly index: number;
}

/** Undefined for a transaction that called no contract, and for one that does not decode. */
function callOf(tx: Uint8Array, result: TxResult, { height, index }: Place): ContractCall | undefined {
  const messages = messagesOf(tx);
  const direct = messages.flatMap(({ typeUrl, value }) => directCall(typeUrl, value) ?? []);
  const called = result.events
    .flatMap(({ attributes }) => attributes)
    .flatMap(({ key, value }) => (key === "_contract_address" ? [value] : []));
  const contracts = [...new Set([...direct.flatMap(({ contract }) => contract ?? []), ...called])];
  if (direct.length === 0 && contracts.length === 0) return undefined;
  return {
    hash: upperHex(sha256(tx)),
    height,
    index,
    contracts,
    messages:
      direct.length > 0 ? direct.map(({ text }) => text) : messages.map(({ typeUrl }) => typeUrl.slice(1)),
    isDirect: direct.length > 0,
    gasUsed: result.gasUsed,
    code: result.code,
    log: result.log,
  };
}

function messagesOf(tx: Uint8Array): readonly { readonly typeUrl: string; readonly value: Uint8Array }[] {
  try {
    return TxBody.decode(TxRaw.decode(tx).bodyBytes).messages;
  } catch {
    // A block may have such a transaction; its result is an error.
    return [];
  }
}

interface DirectCall {
  readonly contract: string | undefined;
  readonly text: string;
}

function directCall(typeUrl: string, value: Uint8Array): DirectCall | undefined {
  switch (typeUrl) {
    case "/cosmwasm.wasm.v1.MsgExecuteContract": {
      const { contract, msg } = wire.MsgExecuteContract.decode(value);
      return { contract, text: `execute ${shortText(msg)}` };
    }
    case "/cosmwasm.wasm.v1.MsgMigrateContract": {
      const { contract, msg } = wire.MsgMigrateContract.decode(value);
      return { contract, text: `migrate ${shortText(msg)}` };
    }
    case "/cosmwasm.wasm.v1.MsgInstantiateContract":
      return {
        contract: undefined,
        text: `instantiate ${shortText(wire.MsgInstantiateContract.decode(value).msg)}`,
      };
    case "/cosmwasm.wasm.v1.MsgInstantiateContract2":
      return {
        contract: undefined,
        text: `instantiate ${shortText(wire.MsgInstantiateContract2.decode(value).msg)}`,
      };
    default:
      return undefined;
  }
}

function shortText(message: Uint8Array): string {
  const text = fromLossyUtf8(message.subarray(0, MAX_TEXT));
  return message.length > MAX_TEXT ? `${text}…` : text;
}
