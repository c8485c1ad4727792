import type { TxResult } from "../abci.ts";
import { type Branch, createBranch, type StoreSource } from "../store/branch.ts";
import type { AnteStep, TxEnvironment } from "./ante/ante-step.ts";
import type { Context, ExecutionMode } from "./context.ts";
import type { ChainEvent } from "./events.ts";
import { type BlockFacts, createContext } from "./execution-context.ts";
import { createGasMeter, type GasMeter, isPastLimit } from "./gas.ts";
import { type MessagesResult, requireRoutable, runMessages } from "./message-router.ts";
import { ModuleError } from "./module-error.ts";
import { ErrInvalidGasLimit, ErrTxDecode } from "./sdk-errors.ts";
import { asMempoolDecodeError, type DecodedTx, decodeTx, feeOf, type TxCodec } from "./tx.ts";

/** Rules for all transactions of an application. */
export interface TxRules {
  readonly codec: TxCodec;
  readonly ante: AnteStep;
  /** Post handler. Runs after the messages, also when they failed. When it fails, the writes of the messages are dropped. */
  readonly post: AnteStep;
}

/** Mode, block and stores of one run. */
export interface TxScope {
  readonly mode: ExecutionMode;
  readonly block: BlockFacts;
  readonly environment: TxEnvironment;
  readonly stores: StoreSource;
}

const EMPTY_DATA = new Uint8Array(0);

/**
 * Runs one transaction like baseapp's `runTx`. The writes of the ante handler stay when the ante handler passes. The
 * writes of messages and post handler stay when both pass. A failure is a result. Any other exception is a bug of ours
 * and propagates.
 */
export function runTx(bytes: Uint8Array, rules: TxRules, scope: TxScope): TxResult {
  const progress: TxProgress = { gas: createGasMeter(), gasWanted: 0n, anteEvents: [] };
  try {
    const tx = decodeForMode(bytes, rules, scope.mode);
    requireRoutable(tx);
    return execute(tx, rules, scope, progress);
  } catch (thrown) {
    if (thrown instanceof ModuleError) return failedResult(thrown, progress, scope.mode);
    throw thrown;
  }
}

/** Data for the result that stays valid when a later step throws. */
interface TxProgress {
  gas: GasMeter;
  gasWanted: bigint;
  anteEvents: readonly ChainEvent[];
}

/**
 * Decodes a transaction. The SDK reports a decoding error in three ways: complete in a simulation, without its code in
 * CheckTx, and without details in a block.
 */
function decodeForMode(bytes: Uint8Array, rules: TxRules, mode: ExecutionMode): DecodedTx {
  try {
    return decodeTx(bytes, rules.codec);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || mode === "simulate") throw thrown;
    throw mode === "deliver" ? ErrTxDecode() : asMempoolDecodeError(thrown);
  }
}

function execute(tx: DecodedTx, rules: TxRules, scope: TxScope, progress: TxProgress): TxResult {
  openGasMeter(tx, scope, progress);
  runAnte(tx, rules, scope, progress);
  // Messages and post handler share one branch, so that a failed transaction keeps neither.
  const branch = createBranch(scope.stores);
  const outcome = tryMessages(tx, scope, progress, branch);
  const postEvents = runPost(tx, { rules, scope, progress, branch }, outcome);
  if (outcome instanceof ModuleError) throw outcome;
  if (scope.mode === "deliver") branch.write();
  return {
    code: 0,
    codespace: "",
    log: "",
    data: outcome.data,
    gasWanted: progress.gasWanted,
    gasUsed: progress.gas.used(),
    events: runsMessages(scope.mode) ? [...progress.anteEvents, ...outcome.events, ...postEvents] : [],
  };
}

/**
 * Sets the gas limit. A simulation ignores the limit of the transaction, which the client does not know yet, and gets
 * the limit of a block (wasmd `LimitSimulationGasDecorator`).
 */
function openGasMeter(tx: DecodedTx, scope: TxScope, progress: TxProgress): void {
  const { maxBlockGas } = scope.environment;
  const { gasLimit } = feeOf(tx);
  if (scope.mode === "simulate") {
    progress.gas = maxBlockGas > 0n ? createGasMeter(maxBlockGas) : createGasMeter();
    progress.gasWanted = maxBlockGas > 0n ? maxBlockGas : 0n;
    return;
  }
  progress.gas = createGasMeter(gasLimit);
  progress.gasWanted = gasLimit;
  if (maxBlockGas > 0n && gasLimit > maxBlockGas)
    throw ErrInvalidGasLimit(`tx gas limit ${gasLimit} exceeds block max gas ${maxBlockGas}`);
}

/** Runs the ante handler. Its events stay in the result when the messages fail, because its writes stay too. */
function runAnte(tx: DecodedTx, rules: TxRules, scope: TxScope, progress: TxProgress): void {
  const branch = createBranch(scope.stores);
  const events: ChainEvent[] = [];
  rules.ante(contextOn(branch, scope, progress, events), tx, scope.environment);
  branch.write();
  progress.anteEvents = events;
}

function contextOn(branch: Branch, scope: TxScope, progress: TxProgress, events: ChainEvent[]): Context {
  const { mode, block } = scope;
  return createContext(block, {
    mode,
    gas: progress.gas,
    stores: branch.store,
    emit: (each) => events.push(each),
  });
}

/**
 * Runs the messages, except in a check. Returns a failure instead of throwing it, because the post handler runs after a
 * failure too. Throws when the gas limit is exceeded: in Go that is a panic, which skips the post handler.
 */
function tryMessages(
  tx: DecodedTx,
  scope: TxScope,
  progress: TxProgress,
  branch: Branch,
): MessagesResult | ModuleError {
  if (!runsMessages(scope.mode)) return { data: EMPTY_DATA, events: [] };
  try {
    return runMessages(contextOn(branch, scope, progress, []), tx);
  } catch (thrown) {
    if (thrown instanceof ModuleError && !isPastLimit(progress.gas)) return thrown;
    throw thrown;
  }
}

/** Runs the post handler. When both the messages and the post handler fail, the SDK joins the two texts. */
function runPost(
  tx: DecodedTx,
  run: {
    readonly rules: TxRules;
    readonly scope: TxScope;
    readonly progress: TxProgress;
    readonly branch: Branch;
  },
  outcome: MessagesResult | ModuleError,
): readonly ChainEvent[] {
  const { rules, scope, progress, branch } = run;
  const events: ChainEvent[] = [];
  try {
    rules.post(contextOn(branch, scope, progress, events), tx, scope.environment);
    return events;
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || !(outcome instanceof ModuleError)) throw thrown;
    if (isPastLimit(progress.gas)) throw thrown;
    throw outcome.wrap(`postHandler: ${thrown.message}`);
  }
}

/** Whether messages run in this mode. A result has events only then. */
function runsMessages(mode: ExecutionMode): boolean {
  return mode === "deliver" || mode === "simulate";
}

function failedResult(error: ModuleError, progress: TxProgress, mode: ExecutionMode): TxResult {
  return {
    code: error.code,
    codespace: error.codespace,
    log: error.message,
    data: EMPTY_DATA,
    gasWanted: progress.gasWanted,
    gasUsed: progress.gas.used(),
    events: runsMessages(mode) ? progress.anteEvents : [],
  };
}
