import type { Profile } from "../deviations/deviations.ts";
import type { Branch, KVStore } from "../store/cache-store.ts";
import type { FinalizeBlockRequest, FinalizeBlockResult, TxResult, ValidatorPower } from "./abci.ts";
import {
  type ChainEvent,
  type BlockFacts,
  type Context,
  createContext,
  attribute,
  type BlockInput,
} from "./context.ts";
import { ErrOutOfGas } from "./errors.ts";
import { createGasMeter } from "./gas.ts";
import type { runTx, TxRules } from "./tx-runner.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { nsToTimestamp, timestampToNs } from "../../../cosmos/comet/timestamp.ts";
import { Header } from "../../../cosmos/proto/gen/tendermint/types/types.ts";

type PreHook = (context: Context, txs: readonly Uint8Array[]) => void;
type BeginHook = (context: Context, block: BlockInput) => void;
type EndHook = (context: Context) => void;

type RunTx = (...args: [...Parameters<typeof runTx>, index: number]) => TxResult;

/** The hooks and rules with which every block is executed. */
export interface BlockRules {
  readonly tx: TxRules;
  readonly run: RunTx;
  readonly profile: Profile;
  readonly pre: readonly PreHook[];
  readonly begin: readonly BeginHook[];
  readonly end: readonly EndHook[];
  /** Returns the block's changes to the validator set, after all end hooks have run. */
  readonly validatorUpdates: (context: Context) => readonly ValidatorPower[];
  /** Returns the total gas that a block's transactions may use, or 0 or less if there is no limit. */
  readonly maxBlockGas: (context: Context) => bigint;
}

/** Result of executing a block, without the app hash, which is computed later. */
type ExecutedBlock = Omit<FinalizeBlockResult, "appHash">;

/**
 * Executes a block that consensus has decided. A failed transaction does not fail the block. Any other exception is a bug and stops
 * the chain.
 */
export function executeBlock(
  request: FinalizeBlockRequest & Pick<BlockInput, "appHash">,
  chainId: string,
  branch: Branch,
  rules: BlockRules,
): ExecutedBlock {
  const { height, timeNs } = request;
  const block: BlockFacts = { chainId, height, timeNs, profile: rules.profile };
  const events: ChainEvent[] = [];
  // Write the record before the hooks, so that it is part of the state at this height.
  writeBlockRecord(branch.store(BLOCK_RECORD_STORE), { ...block, proposerAddress: request.proposerAddress });
  const preContext = blockContext(block, branch, (event) => events.push(event));
  for (const hook of rules.pre) hook(preContext, request.txs);
  const beginContext = blockContext(block, branch, appendWithMode("BeginBlock", events));
  for (const hook of rules.begin) hook(beginContext, request);
  const txResults = runTransactions(request, block, branch, rules);
  const endContext = blockContext(block, branch, appendWithMode("EndBlock", events));
  for (const hook of rules.end) hook(endContext);
  return { txResults, events, validatorUpdates: rules.validatorUpdates(endContext) };
}

/** Creates the context for a block hook, without a gas limit. By default, events that the hook emits are dropped. */
export function blockContext(
  block: BlockFacts,
  branch: Branch,
  emit: (event: ChainEvent) => void = () => undefined,
): Context {
  return createContext(block, { mode: "deliver", gas: createGasMeter(), branch, emit });
}

/**
 * Returns a function that, like baseapp's `beginBlock` and `endBlock`, adds the attribute `mode` to each event and appends the
 * event to `events`.
 */
function appendWithMode(mode: "BeginBlock" | "EndBlock", events: ChainEvent[]): (event: ChainEvent) => void {
  return ({ type, attributes }) => {
    events.push({ type, attributes: [...attributes, attribute("mode", mode)] });
  };
}

function runTransactions(
  request: FinalizeBlockRequest,
  block: BlockFacts,
  branch: Branch,
  rules: BlockRules,
): readonly TxResult[] {
  const maxBlockGas = rules.maxBlockGas(blockContext(block, branch));
  const environment = { proposerAddress: request.proposerAddress, maxBlockGas };
  // The transaction that exceeds the block's gas limit keeps its result. All later transactions fail without running.
  let used = 0n;
  return request.txs.map((tx, index) => {
    if (maxBlockGas > 0n && used >= maxBlockGas) return noBlockGasLeft();
    const result = rules.run(tx, rules.tx, { mode: "deliver", block, environment, branch }, index);
    used += result.gasUsed;
    return result;
  });
}

function noBlockGasLeft(): TxResult {
  const { code, codespace, message } = ErrOutOfGas("no block gas left to run tx");
  const data = new Uint8Array(0);
  return { code, codespace, log: message, data, gasWanted: 0n, gasUsed: 0n, events: [] };
}

/** Block data stored in the state, for queries at the block's height and for the first checks after a restart. */
export interface BlockRecord extends BlockFacts {
  readonly proposerAddress: Uint8Array;
}

/** Name of the consensus module's store, which also contains the block record. */
export const BLOCK_RECORD_STORE = "consensus";

const KEY = utf8("LastBlock");

/** Writes the current block's record as a `tendermint.types.Header` with all other fields empty. */
function writeBlockRecord(store: KVStore, record: BlockRecord): void {
  const { chainId, height, timeNs, proposerAddress } = record;
  const empty = Header.decode(new Uint8Array(0));
  const header = { ...empty, chainId, height, time: nsToTimestamp(timeNs), proposerAddress };
  store.set(KEY, Header.encode(header).finish());
}

/** Returns the record of the last executed block, or undefined before the first block. */
export function readBlockRecord(store: KVStore): BlockRecord | undefined {
  const bytes = store.get(KEY);
  if (bytes === undefined) return undefined;
  const { chainId, height, time, proposerAddress } = Header.decode(bytes);
  return { chainId, height, timeNs: timestampToNs(time), proposerAddress };
}
