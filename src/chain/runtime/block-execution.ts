import type { FinalizeBlockRequest, FinalizeBlockResult, TxResult, ValidatorPower } from "../abci.ts";
import type { Branch } from "../store/branch.ts";
import { BLOCK_RECORD_STORE, writeBlockRecord } from "./block-record.ts";
import type { Context } from "./context.ts";
import type { ChainEvent } from "./events.ts";
import { type BlockFacts, createContext } from "./execution-context.ts";
import { createGasMeter } from "./gas.ts";
import { ErrOutOfGas } from "./sdk-errors.ts";
import { runTx, type TxRules } from "./tx-runner.ts";

/** Runs at the beginning or end of every block. */
type BlockHook = (context: Context) => void;

/** What a block runs besides its transactions. */
export interface BlockRules {
  readonly tx: TxRules;
  readonly begin: readonly BlockHook[];
  readonly end: readonly BlockHook[];
  /** Changes of the validator set that the block decided; asked after the end hooks. */
  readonly validatorUpdates: (context: Context) => readonly ValidatorPower[];
  /** Gas that the transactions of a block may use together; 0 or less: no limit. */
  readonly maxBlockGas: (context: Context) => bigint;
}

/** What a block did, before its state has a hash. */
export type ExecutedBlock = Omit<FinalizeBlockResult, "appHash">;

/** Runs a decided block on its layer. A failed transaction is a result; any other exception is our bug and passes. */
export function executeBlock(
  request: FinalizeBlockRequest,
  chainId: string,
  branch: Branch,
  rules: BlockRules,
): ExecutedBlock {
  const block: BlockFacts = { chainId, height: request.height, timeNs: request.timeNs };
  const events: ChainEvent[] = [];
  writeBlockRecord(branch.store(BLOCK_RECORD_STORE), { ...block, proposerAddress: request.proposerAddress });
  const first = blockContext(block, branch, markedWith("BeginBlock", events));
  for (const hook of rules.begin) hook(first);
  const txResults = runTransactions(request, block, branch, rules);
  const last = blockContext(block, branch, markedWith("EndBlock", events));
  for (const hook of rules.end) hook(last);
  return { txResults, events, validatorUpdates: rules.validatorUpdates(last) };
}

/** A context of a block without a gas limit; by default nobody keeps its events. */
export function blockContext(
  block: BlockFacts,
  branch: Branch,
  emit: (event: ChainEvent) => void = () => undefined,
): Context {
  return createContext(block, { mode: "deliver", gas: createGasMeter(), stores: branch.store, emit });
}

/** Keeps events with the attribute that tells at which end of the block they came. */
function markedWith(mode: "BeginBlock" | "EndBlock", events: ChainEvent[]): (event: ChainEvent) => void {
  return ({ type, attributes }) => {
    events.push({ type, attributes: [...attributes, { key: "mode", value: mode, index: true }] });
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
  let used = 0n;
  return request.txs.map((tx) => {
    if (maxBlockGas > 0n && used >= maxBlockGas) return noBlockGasLeft();
    const place = { mode: "deliver", block, environment, stores: branch.store } as const;
    const result = runTx(tx, rules.tx, place);
    used += result.gasUsed;
    return result;
  });
}

function noBlockGasLeft(): TxResult {
  const { code, codespace, message } = ErrOutOfGas("no block gas left to run tx");
  const data = new Uint8Array(0);
  return { code, codespace, log: message, data, gasWanted: 0n, gasUsed: 0n, events: [] };
}
