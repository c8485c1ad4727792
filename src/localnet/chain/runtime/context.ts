import { unreachable } from "../../../platform/base/errors.ts";
import { type Profile, SPECIFICATION } from "../deviations/deviations.ts";
import type { Branch, KVStore } from "../store/cache-store.ts";
import { createGasStore, type GasMeter, type Interrupt, interruptMeter } from "./gas.ts";
import type { JsonValue } from "../../../platform/base/json.ts";

/** Purpose for which a transaction runs. `simulate` skips signature verification and drops all writes. */
export type ExecutionMode = "check" | "recheck" | "simulate" | "deliver";

/** The environment of a handler, hook or query: the block, the stores, a gas meter and the events. */
export interface Context {
  readonly chainId: string;
  readonly height: bigint;
  /** Block time, in nanoseconds since the Unix epoch. Chain code must not use any other clock. */
  readonly timeNs: bigint;
  readonly mode: ExecutionMode;
  /** Selects the behaviour wherever the specification and the deployed chain differ. */
  readonly profile: Profile;
  readonly gas: GasMeter;
  /**
   * Throws if a simulation or query has taken too long. `interrupt` is called whenever gas is consumed. Long work that consumes no
   * gas must call `interrupt` itself.
   */
  readonly interrupt?: Interrupt | undefined;
  /** Opens a module's store by name. Throws a plain error (a bug) if no module registered the name. */
  readonly store: (name: string) => KVStore;
  /** Emits an event for the message or block. */
  readonly emit: (event: ChainEvent) => void;
  /**
   * Runs `work` on a branch of this context's stores. Applies the branch's writes and events if `work` returns, and drops them if
   * `work` throws. Consumed gas is never refunded.
   */
  readonly atomically: <T>(work: (inner: Context) => T) => T;
  /** Returns a context with the same stores and events but a different gas meter. */
  readonly withGas: (gas: GasMeter) => Context;
}

export interface BlockFacts {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  /** Default: `specification`. */
  readonly profile?: Profile;
}

interface ExecutionScope {
  readonly mode: ExecutionMode;
  readonly gas: GasMeter;
  readonly interrupt?: Interrupt | undefined;
  /** The branch that receives the context's writes. */
  readonly branch: Branch;
  readonly emit: (event: ChainEvent) => void;
}

/** Creates a context in which every store access consumes gas from the context's meter. */
export function createContext(block: BlockFacts, scope: ExecutionScope): Context {
  // Create each store's gas wrapper only once, because a handler opens the same store for every read and write. A context opens
  // only a few stores, so a list is used, which is faster to create than a map.
  const opened: { readonly name: string; readonly store: KVStore }[] = [];
  const { interrupt } = scope;
  const gas = interrupt === undefined ? scope.gas : interruptMeter(scope.gas, interrupt);
  return {
    chainId: block.chainId,
    height: block.height,
    timeNs: block.timeNs,
    mode: scope.mode,
    profile: block.profile ?? SPECIFICATION,
    gas,
    interrupt,
    emit: scope.emit,
    store: (name) => {
      for (const known of opened) if (known.name === name) return known.store;
      const store = createGasStore(scope.branch.store(name), gas);
      opened.push({ name, store });
      return store;
    },
    atomically: (work) => runAtomically(block, scope, work),
    withGas: (other) => createContext(block, { ...scope, gas: other }),
  };
}

function runAtomically<T>(block: BlockFacts, scope: ExecutionScope, work: (inner: Context) => T): T {
  // Branch from the raw stores instead of the gas stores, because the final write must not consume gas.
  const branch = scope.branch.branch();
  const events: ChainEvent[] = [];
  const inner = createContext(block, { ...scope, branch, emit: (each) => events.push(each) });
  const result = work(inner);
  branch.write();
  for (const each of events) scope.emit(each);
  return result;
}

/**
 * The error that `dryRun` throws and catches to discard its branch. All calls share one error object, because the creation of a
 * stack trace would take a quarter of a contract query's time.
 */
const DROPPED = new Error("this is a bug: a dropped branch was not caught");

/** Runs `work` on a branch and returns the result, but drops the writes and events. Consumed gas is not refunded. */
export function dryRun<T>(context: Context, work: (inner: Context) => T): T {
  const outcome: { result?: { readonly value: T } } = {};
  try {
    context.atomically((inner) => {
      outcome.result = { value: work(inner) };
      throw DROPPED;
    });
  } catch (thrown) {
    if (thrown !== DROPPED) throw thrown;
  }
  return outcome.result?.value ?? unreachable("a branch ended without a result");
}

/** Returns a context that appends events to the given list. A branch of the context appends its events after its work has succeeded. */
export function collectEvents(context: Context, events: ChainEvent[]): Context {
  return {
    ...context,
    emit: (each) => {
      events.push(each);
    },
    atomically: (work) =>
      context.atomically((inner) => {
        const pending: ChainEvent[] = [];
        const result = work(collectEvents(inner, pending));
        events.push(...pending);
        return result;
      }),
    withGas: (gas) => collectEvents(context.withGas(gas), events),
  };
}

/** An event attribute. The node indexes the attribute if `index` is true, as in all SDK events. */
interface EventAttribute {
  readonly key: string;
  readonly value: string;
  readonly index: boolean;
}

/** An event that a transaction or a block hook emits (ABCI `Event`). */
export interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}

/** Creates an event attribute that is indexed by nodes, so that clients can search for it. */
export function attribute(key: string, value: string): EventAttribute {
  return { key, value, index: true };
}

/** Creates an event with indexed attributes in the given order. Omits attributes whose value is undefined. */
export function event(
  type: string,
  attributes:
    | Readonly<Record<string, string | undefined>>
    | readonly (readonly [key: string, value: string])[],
): ChainEvent {
  const entries = Array.isArray(attributes) ? attributes : Object.entries(attributes);
  const given: EventAttribute[] = [];
  for (const [key, value] of entries) if (value !== undefined) given.push(attribute(key, value));
  return { type, attributes: given };
}

export interface HandlerResult {
  readonly typeUrl: string;
  readonly response: Uint8Array;
}

export interface MessageHandler {
  readonly typeUrl: string;
  /** Returns the bech32 addresses of an encoded message's signers, in order. Throws `ModuleError` if decoding fails. */
  readonly signers: (message: Uint8Array) => readonly string[];
  /**
   * Checks an encoded message without reading the state (the SDK's `ValidateBasic`). For a transaction, the check runs before the
   * fee is taken, and `handle` repeats it. Throws `ModuleError`.
   */
  readonly validate?: (message: Uint8Array) => void;
  /**
   * Runs an encoded message. The signers have already been verified, by the ante handler for a transaction and by the contract host
   * for a contract's message. Throws `ModuleError` to fail the message.
   */
  readonly handle: (context: Context, message: Uint8Array) => HandlerResult;
}

/** Returns the handler for a message's type URL, or undefined if no module handles the type. */
export type FindMessage = (typeUrl: string) => MessageHandler | undefined;

/** Handles one gRPC query, whose request and response are encoded messages. */
export interface QueryHandler {
  /** gRPC path of the method, such as "/cosmos.bank.v1beta1.Query/Balance". */
  readonly path: string;
  /** Throws `QueryError` or `ModuleError` to fail the query. */
  readonly query: (context: Context, request: Uint8Array) => Uint8Array;
}

/** A validator's vote on the previous block. */
export interface LastCommitVote {
  /** The validator's consensus address, 20 bytes. */
  readonly address: Uint8Array;
  readonly power: bigint;
  readonly signed: boolean;
}

/** Evidence that a validator signed two blocks at the same height. */
export interface Misbehavior {
  /** The validator's consensus address, 20 bytes. */
  readonly address: Uint8Array;
  readonly height: bigint;
  /** Block time at the infraction's height, in nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** The validator's power at the infraction's height. */
  readonly power: bigint;
}

/** Data about the block, such as votes and evidence, that the node passes to begin hooks. */
export interface BlockInput {
  readonly lastCommit: readonly LastCommitVote[];
  /** Default: none. */
  readonly misbehavior?: readonly Misbehavior[];
  /** Hash of the next height's validator set, as in this block's header. Default: empty. */
  readonly nextValidatorsHash?: Uint8Array;
  /** The proposer's address. Default: empty. */
  readonly proposerAddress?: Uint8Array;
  /** State root before this block, which this block's header contains. Default: empty. */
  readonly appHash?: Uint8Array;
}

/** Runs a genesis transaction (an encoded `Tx`) without a fee or a gas limit. Keeps the transaction's writes if it succeeds (code 0). */
export type DeliverGenesisTx = (tx: Uint8Array) => { readonly code: number; readonly log: string };

/** Names and prefixes of the chain, which are passed to its modules. */
export interface ChainNames {
  /** First segment of the type URLs, query paths and REST paths of the chain's own modules. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. Operator and consensus addresses add `valoper` and `valcons` to the prefix. */
  readonly bech32Prefix: string;
  /** Fee denomination, also used in default parameters. */
  readonly denom: string;
  /** Bech32 address of the account that signs proposals' messages and may change parameters. */
  readonly authority: string;
}

/** Interface that every module of the chain implements. A module calls other modules only through interfaces that it declares itself. */
export interface ChainModule {
  /** Name of the module's member in the genesis document. */
  readonly name: string;
  /** Names of the stores that the module owns. */
  readonly stores: readonly string[];
  readonly messages: readonly MessageHandler[];
  readonly queries: readonly QueryHandler[];
  /** Runs before the begin hooks and receives the block's transactions. */
  readonly preBlock?: (context: Context, txs: readonly Uint8Array[]) => void;
  readonly beginBlock?: (context: Context, block: BlockInput) => void;
  readonly endBlock?: (context: Context) => void;
  /** Reads the module's part of the genesis document (proto JSON, snake_case). An error's text contains the field's path. */
  readonly initGenesis: (context: Context, genesis: JsonValue | undefined) => void;
  /** Delivers the module's genesis transactions after the genesis of all modules. */
  readonly genesisTxs?: (context: Context, genesis: JsonValue | undefined, deliver: DeliverGenesisTx) => void;
  readonly exportGenesis: (context: Context) => JsonValue;
}
