import { Counter, type Registry } from "prom-client";
import { type Params, paramsFromWire } from "../../cosmos/fee-market/market.ts";
import {
  QueryCodesRequest,
  QueryCodesResponse,
  QueryContractsByCodeRequest,
  QueryContractsByCodeResponse,
} from "../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { MsgExecuteContract, MsgInstantiateContract } from "../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import * as feemarket from "../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { TYPE_URL } from "../../cosmos/proto/registry.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { equalBytes, utf8 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { ceilDec18, type Dec18, formatDec18, mulDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { FaultSwitches } from "../../platform/base/fault-switches.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { createChangeSignal } from "../../platform/base/waits.ts";
import { gasBurner } from "../chain/contracts/gas-burner.ts";
import { codeHash } from "../chain/modules/wasm/keeper.ts";
import { MempoolError } from "../node/base/errors.ts";
import type { NodeView, StoredBlock, StoredResults } from "../node/base/node-view.ts";
import type { RunningNode } from "../node/create-node.ts";
import { type ChainProfile, CHAINS } from "../accounts/chains.ts";
import { createLocalAccount, type LocalDraft } from "../accounts/local-account.ts";
import { createPlannedUpgrade } from "./planned-upgrade.ts";

type TrafficErrorFacts =
  | { readonly code: "traffic-too-much"; readonly gasPerBlock: bigint; readonly maximum: bigint }
  | { readonly code: "traffic-without-contract" }
  | { readonly code: "traffic-unreadable"; readonly path: string };

/** Thrown if the chain does not support simulated traffic. */
class TrafficError extends CodedError<TrafficErrorFacts> {}

/** Faults in simulated users' transactions, and their visible effects. */
export const TRAFFIC_FAULTS = {
  "busy-market":
    "others use up the fee market's target in each local-1 block: the price does not change, and nothing is left for the relayer",
  "upgrade-planned":
    "the admin of local-1 plans an upgrade 7,200 blocks ahead; switching it off cancels the plan",
} as const;

export type TrafficFaultName = keyof typeof TRAFFIC_FAULTS;

export interface TrafficOptions {
  /**
   * The traffic's gas per block, as counted by the fee market. At most `max_block_utilization`. If 0, the service sends traffic
   * only while the fault `busy-market` is on.
   */
  readonly gasPerBlock: bigint;
  readonly faults?: Pick<FaultSwitches<TrafficFaultName>, "has">;
  /** The chain that receives the traffic. Default: the local chain of the default localnet. */
  readonly chain?: ChainProfile;
}

export interface TrafficDeps {
  /** Resolves with the local chain's node once the chain has started. */
  readonly node: Promise<Pick<RunningNode, "view">>;
  readonly clock: Pick<Clock, "sleep">;
  readonly logger: Logger;
}

/** Simulates other users' transactions on the local chain. */
export interface Traffic extends Service {
  /** Returns the traffic's gas since startup, as counted by the fee market. */
  readonly gas: () => bigint;
}

export const TRAFFIC_ACCOUNT = "traffic";
/**
 * Maximum number of pending transactions from the traffic generator. With two, a block can include both its own transaction and a transaction
 * that did not fit into the previous block.
 */
const MAX_PENDING = 2;
/**
 * Factor by which the traffic's gas price exceeds the current gas price. The factor covers two increases by 1/8 while a transaction
 * is pending. The proposer gets any excess fee as a tip.
 */
const PRICE_MARGIN = parseDec18("1.3");
/** Maximum gas price that the traffic pays, as a multiple of the minimum gas price. */
const MAX_PRICE_RATIO = 1_000n;
/** Gas for paying out the fee. The payout uses this gas after the fee market has counted the transaction's gas. */
const PAYOUT_GAS = 37_300n;
/**
 * Estimated gas per transaction in addition to the contract's work, as counted by the fee market. The estimate is used until a call
 * shows the actual amount.
 */
const FIRST_OVERHEAD = 133_000n;
/** Amount added to a transaction's gas limit, because the gas used in addition to the contract's work can increase. */
const LIMIT_MARGIN = 20_000n;
/** Gas by which even heavy traffic stays below the block maximum, because a transaction above the maximum would fail. */
const ROOM_BELOW_MAXIMUM = 50_000n;
const INSTANTIATE_GAS = 400_000n;
/** Maximum time to wait for the next block, for example while the chain is halted. */
const MAX_WAIT_MS = 10_000;
/** Number of blocks after which a transaction that is neither in a block nor in the mempool is treated as lost. */
const LOST_AFTER_BLOCKS = 10n;

/**
 * Creates a service that sends a transaction after each block, through the mempool like any user's transaction. The transaction's contract
 * call uses up the gas planned for the next block. A rejected transaction is replaced after the next block. `run` rejects with
 * {@link TrafficError} if the chain does not support this traffic.
 */
export function createTraffic(options: TrafficOptions, deps: TrafficDeps): Traffic {
  const { node, clock } = deps;
  const logger = deps.logger.child({ part: "traffic" });
  const sender = createSender(options, logger);
  const planUpgrade = createPlannedUpgrade(options.chain ?? CHAINS.local, logger);
  return {
    name: "traffic",
    gas: sender.gas,
    run: async (signal) => {
      const { view } = await raceAbort(node, signal);
      const blocks = createChangeSignal(clock);
      const stop = view.onBlock((block, results) => {
        sender.record(block, results);
        blocks.wake();
      });
      try {
        for (;;) {
          const version = blocks.version();
          await sender.sendFor(view);
          await planUpgrade(view, options.faults?.has("upgrade-planned") === true);
          await blocks.changedSince(version, MAX_WAIT_MS, signal);
        }
      } finally {
        stop();
      }
    },
  };
}

/** Registers the counter for the traffic's gas, whose value each scrape reads from `traffic`. */
export function registerTrafficMetrics(registry: Registry, traffic: Pick<Traffic, "gas">): void {
  const counter: Counter = new Counter({
    name: "relaywatch_localnet_traffic_gas_total",
    help: "Gas of the simulated traffic in the local chain's blocks, as the fee market counts it.",
    registers: [registry],
    collect: () => {
      counter.reset();
      counter.inc(Number(traffic.gas()));
    },
  });
}

/** A transaction that the traffic service has added to the mempool. */
interface Sent {
  readonly bytes: Uint8Array;
  /** The chain's latest height when the transaction was sent. */
  readonly height: bigint;
  /** Gas for the contract call's work, or undefined for the transaction that instantiates the contract. */
  readonly burned: bigint | undefined;
}

function createSender(options: TrafficOptions, logger: Logger) {
  const { gasPerBlock, faults, chain: profile = CHAINS.local } = options;
  const account = createLocalAccount(profile, TRAFFIC_ACCOUNT);
  let chain: { readonly params: Params; readonly codeId: bigint } | undefined;
  let contract: string | undefined;
  let sent: readonly Sent[] = [];
  let sentAt = -1n;
  let overhead = FIRST_OVERHEAD;
  let gas = 0n;
  let state: "sending" | "rejected" | "too-expensive" | "impossible" = "sending";
  /** Enters a state, and logs the message only if the state has changed, because a state may last for thousands of blocks. */
  const enter = (next: typeof state, message: string, fields: Readonly<Record<string, unknown>>): void => {
    if (next !== state) logger.warn(message, fields);
    state = next;
  };
  const broadcast = async (view: NodeView, draft: LocalDraft, burned: bigint | undefined): Promise<void> => {
    try {
      const { check, bytes } = await account.broadcast(view, draft);
      if (check.code !== 0) {
        const { code, codespace, log } = check;
        return enter("rejected", "transaction rejected", { code, codespace, log });
      }
      sent = [...sent, { bytes, height: sentAt, burned }];
      state = "sending";
    } catch (error) {
      if (!(error instanceof MempoolError)) throw error;
      enter("rejected", "transaction rejected", { error: error.message });
    }
  };
  /** Reads the chain's fee market. If the chain does not support traffic, throws only if `gasPerBlock` is not 0. */
  const chainOf = (view: NodeView): typeof chain => {
    try {
      return readChain(view, gasPerBlock, profile.chainId);
    } catch (error) {
      if (gasPerBlock > 0n || !(error instanceof TrafficError)) throw error;
      enter("impossible", "no traffic", { error: error.message });
      return undefined;
    }
  };
  const record = ({ txs, header }: StoredBlock, { txResults }: StoredResults): void => {
    const rest: Sent[] = [];
    for (const one of sent) {
      const index = txs.findIndex((tx) => equalBytes(tx, one.bytes));
      const result = index < 0 ? undefined : txResults[index];
      if (result === undefined) rest.push(one);
      else if (result.code === 0) {
        const counted = result.gasUsed - PAYOUT_GAS;
        gas += counted;
        if (one.burned !== undefined) overhead = maxInt(counted - one.burned, 0n);
      } else {
        const { code, codespace, log } = result;
        logger.debug("transaction failed", { height: header.height, code, codespace, log });
      }
    }
    sent = rest;
  };
  const sendFor = async (view: NodeView): Promise<void> => {
    const { latestHeight } = view.status();
    // Wait for the first block, because before it there is no state to read.
    if (latestHeight <= sentAt || view.block(latestHeight) === undefined) return;
    sentAt = latestHeight;
    const isBusy = faults?.has("busy-market") === true;
    if (gasPerBlock === 0n && !isBusy) return;
    chain ??= chainOf(view);
    if (chain === undefined) return;
    contract ??= readContract(view, chain.codeId);
    const pending = pendingOf(view, sent);
    sent = sent.filter((one) => pending.has(one) || one.height + LOST_AFTER_BLOCKS > latestHeight);
    const most = contract === undefined ? 1 : MAX_PENDING;
    if (pending.size >= most) return;
    const { params } = chain;
    const price = readPrice(view);
    const cap = params.minBaseGasPrice * MAX_PRICE_RATIO;
    if (price > cap)
      return enter("too-expensive", "gas price above the traffic's limit", {
        price: formatDec18(price),
        limit: formatDec18(cap),
      });
    const feeOf = (gasLimit: bigint): LocalDraft["fee"] => ({
      denom: params.feeDenom,
      amount: ceilDec18(gasLimit * minInt(mulDec18(price, PRICE_MARGIN), cap)),
    });
    if (contract === undefined) {
      const messages = [instantiateMessage(account.address, chain.codeId)];
      const fee = feeOf(INSTANTIATE_GAS);
      return broadcast(view, { messages, memo: TRAFFIC_ACCOUNT, gasLimit: INSTANTIATE_GAS, fee }, undefined);
    }
    // During the fault `busy-market`, use at least half of the maximum gas, because the fee market's target is half of the maximum.
    const wanted = isBusy ? maxInt(gasPerBlock, params.maxBlockUtilization / 2n) : gasPerBlock;
    const counted = minInt(wanted, params.maxBlockUtilization - ROOM_BELOW_MAXIMUM);
    const burned = maxInt(counted - overhead, 0n);
    const gasLimit = counted + PAYOUT_GAS + LIMIT_MARGIN;
    const messages = [burnMessage(account.address, contract, burned)];
    await broadcast(view, { messages, memo: TRAFFIC_ACCOUNT, gasLimit, fee: feeOf(gasLimit) }, burned);
  };
  return {
    /** Sends the transaction for the next block. Must be called once per block. */
    sendFor,
    /** Records which of the traffic's own transactions a block includes. */
    record,
    gas: (): bigint => gas,
  };
}

function pendingOf(view: NodeView, sent: readonly Sent[]): ReadonlySet<Sent> {
  if (sent.length === 0) return new Set();
  // Compare byte arrays by identity, because the mempool is in this process and contains the same arrays.
  const inMempool = new Set(view.unconfirmed(Number.POSITIVE_INFINITY).txs);
  return new Set(sent.filter(({ bytes }) => inMempool.has(bytes)));
}

function burnMessage(sender: string, contract: string, gas: bigint): LocalDraft["messages"][number] {
  const msg = utf8(JSON.stringify({ burn: { gas: gas.toString() } }));
  return {
    typeUrl: TYPE_URL.executeContract,
    value: MsgExecuteContract.encode({ sender, contract, msg, funds: [] }).finish(),
  };
}

function instantiateMessage(sender: string, codeId: bigint): LocalDraft["messages"][number] {
  const contract = { sender, admin: "", codeId, label: "traffic", msg: utf8("{}"), funds: [] };
  return {
    typeUrl: TYPE_URL.instantiateContract,
    value: MsgInstantiateContract.encode(contract).finish(),
  };
}

/** Reads chain values that are constant while the chain runs. Throws {@link TrafficError} if the chain does not support traffic. */
function readChain(
  view: NodeView,
  gasPerBlock: bigint,
  chainId: string,
): { readonly params: Params; readonly codeId: bigint } {
  const path = "/feemarket.feemarket.v1.Query/Params";
  const { params: wire } = feemarket.ParamsResponse.decode(
    read(view, path, feemarket.ParamsRequest.encode({})),
  );
  if (wire === undefined) throw unreadable(path, "no parameters");
  const params = paramsFromWire(wire);
  const maximum = params.maxBlockUtilization;
  if (gasPerBlock > maximum) {
    throw new TrafficError(
      { code: "traffic-too-much", gasPerBlock, maximum },
      `--traffic ${gasPerBlock} exceeds the block maximum of ${chainId}'s fee market (${maximum})`,
    );
  }
  const request = QueryCodesRequest.encode({ pagination: undefined });
  const { codeInfos } = QueryCodesResponse.decode(read(view, "/cosmwasm.wasm.v1.Query/Codes", request));
  const hash = codeHash(gasBurner);
  const code = codeInfos.find(({ dataHash }) => equalBytes(dataHash, hash));
  if (code !== undefined) return { params, codeId: code.codeId };
  throw new TrafficError(
    { code: "traffic-without-contract" },
    `${chainId} has no ${gasBurner.name} contract code, which the traffic needs, because its state is from an earlier version; start with an empty --home`,
  );
}

function readContract(view: NodeView, codeId: bigint): string | undefined {
  const request = QueryContractsByCodeRequest.encode({ codeId, pagination: undefined });
  const path = "/cosmwasm.wasm.v1.Query/ContractsByCode";
  return QueryContractsByCodeResponse.decode(read(view, path, request)).contracts[0];
}

function readPrice(view: NodeView): Dec18 {
  const path = "/feemarket.feemarket.v1.Query/State";
  const { state } = feemarket.StateResponse.decode(read(view, path, feemarket.StateRequest.encode({})));
  if (state === undefined) throw unreadable(path, "no state");
  return BigInt(state.baseGasPrice);
}

function read(view: NodeView, path: string, request: { readonly finish: () => Uint8Array }): Uint8Array {
  const response = view.query({ path, data: request.finish(), height: 0n, prove: false });
  if (response.code !== 0) throw unreadable(path, response.log);
  return response.value;
}

function unreadable(path: string, reason: string): TrafficError {
  return new TrafficError({ code: "traffic-unreadable", path }, `cannot read ${path}: ${reason}`);
}
