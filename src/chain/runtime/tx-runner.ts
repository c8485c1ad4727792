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

/** How transactions of an application run. */
export interface TxRules {
  readonly codec: TxCodec;
  readonly ante: AnteStep;
  /** Runs after the messages, also when they failed; its own failure undoes them. */
  readonly post: AnteStep;
}

/** Where and why a transaction runs. */
export interface TxPlace {
  readonly mode: ExecutionMode;
  readonly block: BlockFacts;
  readonly environment: TxEnvironment;
  readonly stores: StoreSource;
}

const EMPTY_DATA = new Uint8Array(0);

/**
 * Runs one transaction as baseapp's `runTx`: what the checks before the messages wrote stays when they passed; what
 * the messages wrote stays when they and the last step passed. Failures are results; anything else that is thrown is
 * our bug and passes through.
 */
export function runTx(bytes: Uint8Array, rules: TxRules, place: TxPlace): TxResult {
  const run: Run = { gas: createGasMeter(), gasWanted: 0n, anteEvents: [] };
  try {
    const tx = decodeFor(bytes, rules, place.mode);
    requireRoutable(tx);
    return execute(tx, rules, place, run);
  } catch (thrown) {
    if (thrown instanceof ModuleError) return failed(thrown, run, place.mode);
    throw thrown;
  }
}

/** What is known of a transaction so far, for its result. */
interface Run {
  gas: GasMeter;
  gasWanted: bigint;
  anteEvents: readonly ChainEvent[];
}

/** What does not decode is told in full by the mempool and a simulation; in a block it is only marked. */
function decodeFor(bytes: Uint8Array, rules: TxRules, mode: ExecutionMode): DecodedTx {
  try {
    return decodeTx(bytes, rules.codec);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || mode === "simulate") throw thrown;
    throw mode === "deliver" ? ErrTxDecode() : asMempoolDecodeError(thrown);
  }
}

function execute(tx: DecodedTx, rules: TxRules, place: TxPlace, run: Run): TxResult {
  openGasMeter(tx, place, run);
  runAnte(tx, rules, place, run);
  const branch = createBranch(place.stores);
  const outcome = runMessagesFor(tx, place, run, branch);
  const postEvents = runPost(tx, { rules, place, run, branch }, outcome);
  if (outcome instanceof ModuleError) throw outcome;
  if (place.mode === "deliver") branch.write();
  return {
    code: 0,
    codespace: "",
    log: "",
    data: outcome.data,
    gasWanted: run.gasWanted,
    gasUsed: run.gas.used(),
    events: reportsEvents(place.mode) ? [...run.anteEvents, ...outcome.events, ...postEvents] : [],
  };
}

/** A simulation may use what a whole block may; other transactions what they ask for, within the block's limit. */
function openGasMeter(tx: DecodedTx, place: TxPlace, run: Run): void {
  const { maxBlockGas } = place.environment;
  const { gasLimit } = feeOf(tx);
  if (place.mode === "simulate") {
    run.gas = maxBlockGas > 0n ? createGasMeter(maxBlockGas) : createGasMeter();
    run.gasWanted = maxBlockGas > 0n ? maxBlockGas : 0n;
    return;
  }
  run.gas = createGasMeter(gasLimit);
  run.gasWanted = gasLimit;
  if (maxBlockGas > 0n && gasLimit > maxBlockGas)
    throw ErrInvalidGasLimit(`tx gas limit ${gasLimit} exceeds block max gas ${maxBlockGas}`);
}

function runAnte(tx: DecodedTx, rules: TxRules, place: TxPlace, run: Run): void {
  const branch = createBranch(place.stores);
  const events: ChainEvent[] = [];
  rules.ante(contextOn(branch, place, run, events), tx, place.environment);
  branch.write();
  run.anteEvents = events;
}

function contextOn(branch: Branch, place: TxPlace, run: Run, events: ChainEvent[]): Context {
  const { mode, block } = place;
  return createContext(block, {
    mode,
    gas: run.gas,
    stores: branch.store,
    emit: (each) => events.push(each),
  });
}

/** Checks do not run messages. A failure is a value here, as the last step runs all the same; no gas left ends it all. */
function runMessagesFor(
  tx: DecodedTx,
  place: TxPlace,
  run: Run,
  branch: Branch,
): MessagesResult | ModuleError {
  if (!reportsEvents(place.mode)) return { data: EMPTY_DATA, events: [] };
  try {
    return runMessages(contextOn(branch, place, run, []), tx);
  } catch (thrown) {
    if (thrown instanceof ModuleError && !isPastLimit(run.gas)) return thrown;
    throw thrown;
  }
}

function runPost(
  tx: DecodedTx,
  scope: { readonly rules: TxRules; readonly place: TxPlace; readonly run: Run; readonly branch: Branch },
  outcome: MessagesResult | ModuleError,
): readonly ChainEvent[] {
  const { rules, place, run, branch } = scope;
  const events: ChainEvent[] = [];
  try {
    rules.post(contextOn(branch, place, run, events), tx, place.environment);
    return events;
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || !(outcome instanceof ModuleError) || isPastLimit(run.gas))
      throw thrown;
    throw outcome.wrap(`postHandler: ${thrown.message}`);
  }
}

function reportsEvents(mode: ExecutionMode): boolean {
  return mode === "deliver" || mode === "simulate";
}

function failed(error: ModuleError, run: Run, mode: ExecutionMode): TxResult {
  return {
    code: error.code,
    codespace: error.codespace,
    log: error.message,
    data: EMPTY_DATA,
    gasWanted: run.gasWanted,
    gasUsed: run.gas.used(),
    events: reportsEvents(mode) ? run.anteEvents : [],
  };
}
