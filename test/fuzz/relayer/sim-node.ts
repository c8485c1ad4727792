import { fromBase64, toHex, sha256 } from "../../../src/platform/base/bytes.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { createTxWindow, type TxWindowDeps } from "../../../src/cosmos/client/tx/create-tx-window.ts";
import type { Signer } from "../../../src/cosmos/client/tx/signer.ts";
import type { WireMessage, TxWindow } from "../../../src/cosmos/client/tx/tx-types.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { BaseAccount } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { QueryAccountResponse } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import {
  SimulateRequest,
  SimulateResponse,
} from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { GasPriceResponse } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import {
  addUtilization,
  closeBlock,
  initialState,
  type Params,
  type State,
} from "../../../src/cosmos/fee-market/market.ts";
import { ceilDec18, DEC18_ONE, type Dec18 } from "../../../src/platform/base/decimal.ts";
import { minInt } from "../../../src/platform/base/integers.ts";
import type { BlockLimits } from "../../../src/relayer/chain/local-queries.ts";
import { blockResult } from "../../support/client/rpc-server.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import type { Random } from "../random.ts";
import type { LocalFault } from "./sim-events.ts";
import { execute, Refusal, type SimState } from "./sim-execution.ts";

/** The mempool, the blocks and the transaction index of the simulated local chain, as one account sees them. */
export interface SimNode {
  readonly window: TxWindow;
  readonly blockLimits: () => BlockLimits;
  /** Returns the state of the fee market after a block. Throws `Refusal` for a block that does not exist. */
  readonly marketState: (height: bigint) => State;
  /** What the blocks used, and what they cost, oldest first. */
  readonly blocks: () => readonly SimBlock[];
  /** Executes the transactions of the mempool at the height of the state. */
  readonly makeBlock: () => void;
  /** Forgets account, mempool and index. */
  readonly reset: () => void;
  /** Number of included transactions. */
  readonly transactions: () => number;
  /** Gas used by included transactions. */
  readonly gasUsed: () => bigint;
  readonly simulations: () => number;
  /** Largest number of transactions of one block. */
  readonly mostInBlock: () => number;
}

export interface SimNodeDeps {
  readonly state: SimState;
  readonly faults: ReadonlySet<LocalFault>;
  readonly clock: ManualClock;
  readonly random: Random;
  readonly updateGas: bigint;
  /** Gas that the transactions of a block may use. */
  readonly blockGas: bigint;
  readonly market: SimMarket | undefined;
  /** Answers a call. A `Refusal` becomes a `ClientError`. */
  readonly respond: <T>(signal: AbortSignal, read: () => T) => Promise<T>;
}

/** A fee market, and the gas that others use of each block: `left` is what the relayer leaves. */
export interface SimMarket {
  readonly params: Params;
  readonly others: (height: bigint, at: { readonly price: Dec18; readonly left: bigint }) => bigint;
}

/** One block of a simulation with a fee market. */
export interface SimBlock {
  readonly height: bigint;
  readonly price: Dec18;
  readonly own: bigint;
  readonly others: bigint;
  /** Fees of the relayer's transactions. */
  readonly fees: bigint;
  readonly results: number;
}

/** The price rules of the simulated relayer. */
export const SIM_GAS_PRICE = { denom: "untrn", multiplier: (DEC18_ONE * 11n) / 10n, cap: DEC18_ONE };

/** Of a block, unless a simulation says otherwise. */
export const BLOCK_GAS = 30_000_000n;
/** Gas of a block while blocks are full: a transaction with two results. */
const FULL_BLOCK_GAS = 250_000n;
const TX_GAS = 108_000n;
/** Of a client update, unless a simulation says otherwise. */
export const UPDATE_GAS = 85_000n;
const RESULT_GAS = 28_000n;
/** Messages of one simulation while the node accepts small requests only. */
const SMALL_REQUEST_MESSAGES = 3;
/** Longest time between a block and its transactions in the index. */
const INDEX_LAG_MS = 90;

interface SimTx {
  readonly hash: string;
  readonly sequence: bigint;
  readonly timeoutHeight: bigint;
  readonly gasLimit: bigint;
  readonly fee: bigint;
  readonly messages: readonly WireMessage[];
}

interface SimResult {
  readonly height: bigint;
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly gasUsed: bigint;
  readonly indexedAtMs: number;
}

const signer: Signer = {
  address: "neutron1relayer",
  publicKey: new Uint8Array(33),
  feeGranter: "",
  sign: () => Promise.resolve(new Uint8Array(64)),
};

/** Creates a node whose account has sequence 0. */
export function createSimNode(deps: SimNodeDeps): SimNode {
  const { state, faults, clock, random, respond, updateGas, blockGas, market } = deps;
  const markets = new Map<bigint, State>();
  const blocks: SimBlock[] = [];
  const marketNow = (params: Params): State => markets.get(state.height) ?? initialState(params);
  const isTooCheap = ({ fee, gasLimit }: SimTx, price: Dec18): boolean => fee < ceilDec18(gasLimit * price);
  let committed = 0n;
  let expected = 0n;
  let mempool: SimTx[] = [];
  let results = new Map<string, SimResult>();
  let [transactions, gasUsed, simulations, mostInBlock] = [0, 0n, 0, 0];
  let includedResults = 0;

  const checkTx = (bytes: Uint8Array): unknown => {
    const tx = readTx(bytes);
    if (mempool.some(({ hash }) => hash === tx.hash))
      throw rpcError("broadcast_tx_sync", "tx already exists in cache");
    if (faults.has("no-funds")) return refusal(5, "spendable balance is smaller: insufficient funds");
    if (market !== undefined && isTooCheap(tx, marketNow(market.params).baseGasPrice))
      return refusal(13, "insufficient fee");
    if (tx.sequence !== expected) return refusal(32, mismatch(expected, tx.sequence));
    // As on a real node: the sequence counts although gas runs out in the step after it.
    expected += 1n;
    if (faults.has("refuses-some") && random.chance(0.3))
      return refusal(11, "out of gas in location: WriteFlat");
    if (!faults.has("loses-txs") || random.chance(0.3)) mempool.push(tx);
    return { code: 0, codespace: "", log: "" };
  };

  const broadcast = async (
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const result = await respond(signal, () => checkTx(bytesOf(params["tx"])));
    if (faults.has("no-answers") && random.chance(0.5)) throw unreachable();
    return result;
  };

  const find = (hash: string): unknown => {
    const result = results.get(hash);
    if (result === undefined || result.indexedAtMs > clock.nowMs())
      throw rpcError("tx", `tx (${hash}) not found`);
    const { height, code, codespace, log, gasUsed: gas } = result;
    // The ante handler charged the fee, and its events stay.
    const events = [{ type: "tx", attributes: [] }];
    const tx_result = { code, codespace, log, gas_used: `${gas}`, gas_wanted: `${gas}`, events };
    return { height: `${height}`, tx_result };
  };

  const simulate = (request: Uint8Array): Uint8Array => {
    const { txBytes } = SimulateRequest.decode(request);
    const tx = readTx(txBytes);
    simulations += 1;
    if (faults.has("small-requests") && tx.messages.length > SMALL_REQUEST_MESSAGES)
      throw new ClientError({ code: "http-status", endpoint: "sim", status: 413 }, "the body is too large");
    if (tx.sequence !== expected) throw new Refusal(`${mismatch(expected, tx.sequence)}: invalid request`);
    // On the mempool's state: sequences of pending transactions count, their messages have not run.
    execute(state, tx.messages);
    const gasInfo = { gasWanted: 0n, gasUsed: gasOf(tx.messages, updateGas) };
    return SimulateResponse.encode({ gasInfo, result: undefined }).finish();
  };

  const query = (path: string, request: Uint8Array): Uint8Array => {
    if (path.endsWith("/Simulate")) return simulate(request);
    if (path.endsWith("/GasPrice") && market !== undefined)
      return GasPriceResponse.encode({
        price: { denom: "untrn", amount: `${marketNow(market.params).baseGasPrice}` },
      }).finish();
    if (path.endsWith("/GasPrice"))
      return GasPriceResponse.encode({ price: { denom: "untrn", amount: "1000000000000000" } }).finish();
    const account = { address: signer.address, pubKey: undefined, accountNumber: 1n, sequence: committed };
    const value = BaseAccount.encode(account).finish();
    return QueryAccountResponse.encode({
      account: { typeUrl: "/cosmos.auth.v1beta1.BaseAccount", value },
    }).finish();
  };

  const client: TxWindowDeps["client"] = {
    grpcQuery: (path, request, signal) => respond(signal, () => query(path, request)),
    pool: {
      call: () => Promise.reject(new Error("the relayer's account makes no such call")),
      read: async ({ method, params, decode }, signal) => {
        // The index has no holes, so the blocks have nothing more.
        if (method === "block") return decode(await respond(signal, () => blockResult([])), "sim");
        return decode(
          method === "tx"
            ? await respond(signal, () => find(toHex(bytesOf(params["hash"]))))
            : await broadcast(params, signal),
          "sim",
        );
      },
      run: () => Promise.reject(new Error("the relayer's account makes one call at a time")),
      check: () => Promise.resolve([]),
      health: () => [],
      order: () => [],
      distrust: () => {},
      close: () => {},
    },
  };

  const deliver = (tx: SimTx, used: bigint): bigint => {
    committed += 1n;
    const gas = gasOf(tx.messages, updateGas);
    const note = (code: number, codespace: string, log: string): void =>
      void results.set(tx.hash, {
        height: state.height,
        code,
        codespace,
        log,
        gasUsed: gas,
        indexedAtMs: clock.nowMs() + random.int(INDEX_LAG_MS),
      });
    const cap = faults.has("full-blocks") ? FULL_BLOCK_GAS : blockGas;
    if (tx.gasLimit < gas) {
      note(11, "sdk", "out of gas in location: ReadFlat");
      return used;
    }
    if (state.poison.size > 0 && tx.messages.some((message) => state.poison.has(queryOf(message)))) {
      note(1, "undefined", "recovered: runtime error");
      return used;
    }
    try {
      const commit = execute(state, tx.messages);
      if (used + gas > cap) {
        note(
          1,
          "undefined",
          `block utilization of ${used + gas} cannot exceed max block utilization of ${cap}`,
        );
        return used;
      }
      commit();
      note(0, "", "");
      transactions += 1;
      includedResults += tx.messages.filter((message) => !isUpdate(message)).length;
      gasUsed += gas;
      return used + gas;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      note(1, "sim", error.message);
      return used;
    }
  };

  return {
    window: createTxWindow(
      {
        chainId: "local-1",
        memo: "",
        gasPrice: market === undefined ? { ...SIM_GAS_PRICE, multiplier: DEC18_ONE } : SIM_GAS_PRICE,
      },
      { client, signer, clock, random: random.next, logger: silentLogger },
    ),
    blockLimits: () => ({
      market: market?.params,
      utilization: market?.params.maxBlockUtilization ?? blockGas,
      gas: undefined,
      bytes: 20_000_000n,
    }),
    marketState: (height) => {
      const found = height <= state.height ? markets.get(height) : undefined;
      if (found === undefined) throw new Refusal(`no state of height ${height}`);
      return found;
    },
    blocks: () => blocks,
    makeBlock: () => {
      state.answeredInBlock.clear();
      // Another program uses the account.
      if (faults.has("shared-account") && random.chance(0.2)) committed += 1n;
      let used = 0n;
      let count = 0;
      const left: SimTx[] = [];
      const before = market && (markets.get(state.height - 1n) ?? initialState(market.params));
      let fees = 0n;
      const resultsBefore = includedResults;
      for (const tx of mempool) {
        const isLate = left.length > 0 || (faults.has("late-txs") && random.chance(0.3));
        if (isLate) left.push(tx);
        // The proposer leaves it out, and the recheck of the mempool drops it.
        else if (before !== undefined && isTooCheap(tx, before.baseGasPrice)) continue;
        else if (tx.sequence === committed && tx.timeoutHeight >= state.height) {
          used = deliver(tx, used);
          fees += tx.fee;
          count += 1;
        }
      }
      mostInBlock = Math.max(mostInBlock, count);
      if (market !== undefined && before !== undefined) {
        const { params } = market;
        const price = before.baseGasPrice;
        const room = params.maxBlockUtilization - used;
        const others = minInt(market.others(state.height, { price, left: room }), room);
        blocks.push({
          height: state.height,
          price,
          own: used,
          others,
          fees,
          results: includedResults - resultsBefore,
        });
        const added = addUtilization(before, used + others, params);
        markets.set(state.height, closeBlock("state" in added ? added.state : before, params));
        left.splice(0, left.length, ...left.filter((tx) => !isTooCheap(tx, marketNow(params).baseGasPrice)));
      }
      recheck(left);
    },
    reset: () => {
      [committed, expected, mempool, results] = [0n, 0n, [], new Map()];
    },
    transactions: () => transactions,
    gasUsed: () => gasUsed,
    simulations: () => simulations,
    mostInBlock: () => mostInBlock,
  };

  /** The mempool keeps what still follows the committed sequence. */
  function recheck(left: readonly SimTx[]): void {
    expected = committed;
    mempool = [];
    for (const tx of left) {
      if (tx.sequence !== expected) continue;
      mempool.push(tx);
      expected += 1n;
    }
  }
}

function gasOf(messages: readonly WireMessage[], updateGas: bigint): bigint {
  return messages.reduce((sum, message) => sum + (isUpdate(message) ? updateGas : RESULT_GAS), TX_GAS);
}

function isUpdate({ typeUrl }: WireMessage): boolean {
  return typeUrl.endsWith("MsgUpdateClient");
}

/** Returns the query of a result; 0 for a client update. */
function queryOf(message: WireMessage): bigint {
  return isUpdate(message) ? 0n : MsgSubmitQueryResult.decode(message.value).queryId;
}

function readTx(bytes: Uint8Array): SimTx {
  const raw = TxRaw.decode(bytes);
  const body = TxBody.decode(raw.bodyBytes);
  const { signerInfos, fee } = AuthInfo.decode(raw.authInfoBytes);
  return {
    hash: toHex(sha256(bytes)),
    sequence: signerInfos[0]?.sequence ?? 0n,
    timeoutHeight: body.timeoutHeight,
    gasLimit: fee?.gasLimit ?? 0n,
    fee: BigInt(fee?.amount[0]?.amount ?? "0"),
    messages: body.messages,
  };
}

function mismatch(expected: bigint, got: bigint): string {
  return `account sequence mismatch, expected ${expected}, got ${got}: incorrect account sequence`;
}

function refusal(code: number, log: string): unknown {
  return { code, codespace: "sdk", log };
}

function rpcError(method: string, data: string): ClientError {
  return new ClientError({ code: "rpc", endpoint: "sim", method, rpcCode: -32603, data }, data);
}

function unreachable(): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint: "sim", reason: "ECONNRESET" },
    "sim is unreachable",
  );
}

function bytesOf(base64: unknown): Uint8Array {
  return typeof base64 === "string" ? fromBase64(base64) : new Uint8Array();
}
