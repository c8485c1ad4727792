import { TxMsgData } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import type { Branch } from "../store/cache-store.ts";
import type { TxResult } from "./abci.ts";
import {
  type ChainEvent,
  type BlockFacts,
  collectEvents,
  type Context,
  createContext,
  type ExecutionMode,
  attribute,
  event,
  type ChainModule,
  type HandlerResult,
  type MessageHandler,
} from "./context.ts";
import type { AnteStep, TxEnvironment } from "./ante-step.ts";
import { createGasMeter, type GasMeter, type Interrupt } from "./gas.ts";
import { asMempoolDecodeError, type DecodedTx, decodeTx, feeOf, type TxCodec, type TxMessage } from "./tx.ts";
import * as errors from "./errors.ts";

/** The codec and the handlers with which an application runs its transactions. */
export interface TxRules {
  readonly codec: TxCodec;
  readonly ante: AnteStep;
  /** The post handler, which runs even if the messages failed. If the post handler fails, the messages' writes are dropped. */
  readonly post: AnteStep;
  /** Reads the consensus parameters only to consume the same gas as the SDK, which reads them for each transaction. */
  readonly readConsensusParams: (context: Context) => unknown;
}

/** Inputs for running one transaction: the mode, the block and the stores. */
export interface TxScope {
  readonly mode: ExecutionMode;
  readonly block: BlockFacts;
  readonly environment: TxEnvironment;
  /** The branch that receives a delivered transaction's writes. */
  readonly branch: Branch;
  /** Throws to end a simulation or a transaction's rerun. */
  readonly interrupt?: Interrupt | undefined;
}

const EMPTY_DATA = new Uint8Array(0);

/**
 * Runs one transaction like baseapp's `runTx`. Keeps the ante handler's writes if the ante handler succeeds. Keeps all other writes
 * only if the messages and the post handler succeed, too. A failed transaction is returned as a result. Any other exception is a
 * bug and is rethrown.
 */
export function runTx(bytes: Uint8Array, rules: TxRules, scope: TxScope): TxResult {
  const run: TxRun = { ...scope, rules, gas: createGasMeter(), gasWanted: 0n, anteEvents: [] };
  try {
    const tx = decodeForMode(bytes, run);
    requireRoutableAtCost(tx, run);
    return execute(tx, run);
  } catch (thrown) {
    if (thrown instanceof errors.ModuleError) return failedResult(thrown, run);
    throw thrown;
  }
}

/**
 * Like {@link requireRoutable}, but charges a failing transaction only for reading the consensus parameters, because the SDK
 * reads them before it creates the transaction's gas meter.
 */
function requireRoutableAtCost(tx: DecodedTx, run: TxRun): void {
  try {
    requireRoutable(tx);
  } catch (thrown) {
    run.rules.readConsensusParams(contextOn(run.branch, run, []));
    throw thrown;
  }
}

/** State of one run of a transaction, including the results of completed steps, which a failed transaction's result needs too. */
interface TxRun extends TxScope {
  readonly rules: TxRules;
  gas: GasMeter;
  gasWanted: bigint;
  anteEvents: readonly ChainEvent[];
}

/** Decodes a transaction. As in the SDK, a decoding error is reported without its code in CheckTx, and without its details in a block. */
function decodeForMode(bytes: Uint8Array, { rules, mode }: TxRun): DecodedTx {
  try {
    return decodeTx(bytes, rules.codec);
  } catch (thrown) {
    if (!(thrown instanceof errors.ModuleError) || mode === "simulate") throw thrown;
    throw mode === "deliver" ? errors.ErrTxDecode() : asMempoolDecodeError(thrown);
  }
}

function execute(tx: DecodedTx, run: TxRun): TxResult {
  openGasMeter(tx, run);
  runAnte(tx, run);
  // The messages and the post handler share one branch, so that a failed transaction drops the writes of both.
  const branch = run.branch.branch();
  const outcome = tryMessages(tx, run, branch);
  const postEvents = runPost(tx, run, branch, outcome);
  if (outcome instanceof errors.ModuleError) throw outcome;
  if (run.mode === "deliver") branch.write();
  return {
    code: 0,
    codespace: "",
    log: "",
    data: outcome.data,
    gasWanted: run.gasWanted,
    gasUsed: run.gas.used(),
    events: runsMessages(run.mode) ? [...run.anteEvents, ...outcome.events, ...postEvents] : [],
  };
}

/**
 * Sets the gas limit. A simulation ignores the limit in the transaction, because the client simulates to find out which limit it
 * needs. A simulation's limit is the lower of the block's limit (wasmd `LimitSimulationGasDecorator`) and the node's limit.
 */
function openGasMeter(tx: DecodedTx, run: TxRun): void {
  const { maxBlockGas, simulationGas } = run.environment;
  const { gasLimit } = feeOf(tx);
  if (run.mode === "simulate") {
    const blockGas = maxBlockGas > 0n ? maxBlockGas : undefined;
    const isLower = simulationGas !== undefined && (blockGas === undefined || simulationGas < blockGas);
    run.gas = createGasMeter(isLower ? simulationGas : blockGas);
    run.gasWanted = maxBlockGas > 0n ? maxBlockGas : 0n;
    return;
  }
  // Genesis transactions have no gas limit.
  const isGenesis = run.block.height === 0n && run.mode === "deliver";
  run.gas = isGenesis ? createGasMeter() : createGasMeter(gasLimit);
  run.gasWanted = gasLimit;
  if (maxBlockGas > 0n && gasLimit > maxBlockGas)
    throw errors.ErrInvalidGasLimit(`tx gas limit ${gasLimit} exceeds block max gas ${maxBlockGas}`);
}

/** Runs the ante handler, whose events and writes are kept even if the messages fail. */
function runAnte(tx: DecodedTx, run: TxRun): void {
  const branch = run.branch.branch();
  const events: ChainEvent[] = [];
  run.rules.ante(contextOn(branch, run, events), tx, run.environment);
  branch.write();
  run.anteEvents = events;
}

function contextOn(branch: Branch, run: TxRun, events: ChainEvent[]): Context {
  const { mode, block, interrupt, gas } = run;
  return createContext(block, { mode, interrupt, gas, branch, emit: (each) => events.push(each) });
}

/**
 * Runs the messages, except in a check. Returns a failure as a value, because the post handler runs even after a failure. Throws
 * if the gas limit is exceeded, because running out of gas is a panic in Go and skips the post handler.
 */
function tryMessages(tx: DecodedTx, run: TxRun, branch: Branch): MessagesResult | errors.ModuleError {
  if (!runsMessages(run.mode)) return { data: EMPTY_DATA, events: [] };
  try {
    return runMessages(contextOn(branch, run, []), tx);
  } catch (thrown) {
    if (thrown instanceof errors.ModuleError && !(thrown instanceof errors.ChainPanic)) return thrown;
    throw thrown;
  }
}

/** Runs the post handler after the messages. If both the messages and the post handler fail, the error texts are joined as in the SDK. */
function runPost(
  tx: DecodedTx,
  run: TxRun,
  branch: Branch,
  outcome: MessagesResult | errors.ModuleError,
): readonly ChainEvent[] {
  const events: ChainEvent[] = [];
  try {
    run.rules.post(contextOn(branch, run, events), tx, run.environment);
    return events;
  } catch (thrown) {
    if (!(thrown instanceof errors.ModuleError) || !(outcome instanceof errors.ModuleError)) throw thrown;
    if (thrown instanceof errors.ChainPanic) throw thrown;
    throw outcome.wrap(`postHandler: ${thrown.message}`);
  }
}

/** Returns true if messages run in this mode. In a check or recheck, the transaction's result contains no events. */
function runsMessages(mode: ExecutionMode): boolean {
  return mode === "deliver" || mode === "simulate";
}

function failedResult(error: errors.ModuleError, run: TxRun): TxResult {
  return {
    code: error.code,
    codespace: error.codespace,
    log: error.message,
    data: EMPTY_DATA,
    gasWanted: run.gasWanted,
    gasUsed: run.gas.used(),
    events: runsMessages(run.mode) ? run.anteEvents : [],
  };
}

/** Indexes message handlers by type URL. Throws a plain error if two modules have the same type URL. */
export function collectHandlers(modules: readonly ChainModule[]): ReadonlyMap<string, MessageHandler> {
  const handlers = new Map<string, MessageHandler>();
  for (const handler of modules.flatMap(({ messages }) => messages)) {
    if (handlers.has(handler.typeUrl)) unreachable(`two modules handle ${handler.typeUrl}`);
    handlers.set(handler.typeUrl, handler);
  }
  return handlers;
}

/** Throws if a transaction has no messages (sdk/18), or if a message fails its stateless checks or has no handler (sdk/6). */
export function requireRoutable(tx: DecodedTx): void {
  if (tx.messages.length === 0) throw errors.ErrInvalidRequest("must contain at least one message");
  for (const { value, handler } of tx.messages) handler?.validate?.(value);
  for (const { typeUrl, handler } of tx.messages) {
    if (handler === undefined) throw errors.ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  }
}

/** The combined result of a transaction's messages. */
interface MessagesResult {
  /** Encoded `TxMsgData`. */
  readonly data: Uint8Array;
  readonly events: readonly ChainEvent[];
}

/**
 * Runs the messages in order, each on a separate branch. Throws the first failure, prefixed with the message's index. An out-of-gas
 * error gets no prefix, because it is a panic in Go, which Go's message router does not wrap.
 */
export function runMessages(context: Context, tx: DecodedTx): MessagesResult {
  const results = tx.messages.map((message, index) => runMessage(context, message, index));
  const msgResponses = results.map(({ typeUrl, response }) => ({ typeUrl, value: response }));
  return {
    data: TxMsgData.encode({ data: [], msgResponses }).finish(),
    events: results.flatMap(({ events }) => events),
  };
}

interface MessageResult extends HandlerResult {
  readonly events: readonly ChainEvent[];
}

function runMessage(context: Context, message: TxMessage, index: number): MessageResult {
  try {
    return handleMessage(context, message, index);
  } catch (thrown) {
    if (!(thrown instanceof errors.ModuleError) || thrown instanceof errors.ChainPanic) throw thrown;
    throw thrown.wrap(`failed to execute message; message index: ${index}`);
  }
}

function handleMessage(context: Context, message: TxMessage, index: number): MessageResult {
  const { handler } = message;
  if (handler === undefined)
    throw errors.ErrUnknownRequest(`no message handler found for ${message.typeUrl}`);
  const events: ChainEvent[] = [];
  const result = context.atomically((inner) => handler.handle(collectEvents(inner, events), message.value));
  const sender = handler.signers(message.value)[0];
  // The event `message` comes first, but is created last, because it depends on the handler's events (see `messageEvent`).
  const all = [messageEvent(message.typeUrl, sender, events), ...events];
  return { ...result, events: all.map((each) => withMessageIndex(each, index)) };
}

/**
 * Creates the event `message`, which precedes the handler's events. Like the SDK's `createEvents`, names the module (the second
 * segment of the type URL) unless one of the handler's events already has the attribute `module`.
 */
function messageEvent(
  typeUrl: string,
  sender: string | undefined,
  events: readonly ChainEvent[],
): ChainEvent {
  const hasModule = events.some(({ attributes }) => attributes.some(({ key }) => key === "module"));
  const module = typeUrl.split(".")[1];
  return event("message", { action: typeUrl, sender, module: hasModule ? undefined : module });
}

function withMessageIndex(each: ChainEvent, index: number): ChainEvent {
  const ofIndex = attribute("msg_index", index.toString());
  return { type: each.type, attributes: [...each.attributes, ofIndex] };
}
