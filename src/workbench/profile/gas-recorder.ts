import type { CallTrace, StartTrace, TracedCall } from "../../localnet/vm/hooks.ts";
import { demangle } from "./demangle.ts";

/** Kinds of nodes in a gas profile. */
export const GAS_PLACES = [
  // A whole transaction, or one of the steps in which it is processed.
  "step",
  // A message, contract call, reply or query.
  "message",
  "contract",
  "query",
  // Wasm code: an entry point, its functions, and host functions that it calls.
  "wasm",
  "function",
  "host",
  // Gas without further places below: store accesses of one kind, contract instances, or rounding differences.
  "storage",
  "cost",
] as const;

export type GasPlace = (typeof GAS_PLACES)[number];

/** A place in the call tree with the gas that it used. All gas figures are in VM gas; 140,000 units equal one unit of the chain's gas. */
export interface GasNode {
  readonly place: GasPlace;
  readonly name: string;
  calls: number;
  /** Gas used by the place itself, excluding its children. Can be negative only if gas is given back, for example due to rounding. */
  self: bigint;
  readonly children: GasNode[];
  /** Error with which the call at this place ended, if any. */
  error?: string;
}

/** A failed call to Wasm code, with the functions that were running. */
export interface WasmFailure {
  readonly error: string;
  /** Names of the functions that were running, innermost first. */
  readonly stack: readonly string[];
}

/** A transaction's gas usage as a tree of places. The VM gas of all nodes adds up to `gasUsed` times 140,000. */
export interface GasProfile {
  /** Gas used, in units of the chain's gas. */
  readonly gasUsed: bigint;
  readonly root: GasNode;
  /** Failed calls to Wasm code, in the order of the calls. */
  readonly failures: readonly WasmFailure[];
}

/** Maximum number of nodes in a profile. Further places below a parent are combined into one node. */
const MAX_NODES = 20_000;
/** Maximum depth of a node in the tree. Deeper places below a parent are combined into one node. */
const MAX_DEPTH = 150;
/** Maximum number of failed Wasm calls to record. A transaction has more than one failure only if contracts handle failures. */
const MAX_FAILURES = 16;

/** Name of the nodes that combine places beyond the limits. */
export const BEYOND = "(deeper or further calls)";

/** Builds a profile's tree from calls that enter and leave places, in the order of execution. */
export class GasRecorder {
  readonly root: GasNode;
  readonly failures: WasmFailure[] = [];
  /** Sum of the VM gas recorded at all nodes so far. */
  total = 0n;
  /** Number of function calls within Wasm code. */
  calls = 0;
  private readonly stack: GasNode[];
  private readonly merged = new WeakMap<GasNode, Map<string | number, GasNode>>();
  private nodes = 1;

  constructor(name: string) {
    this.root = newNode("step", name);
    this.stack = [this.root];
  }

  current(): GasNode {
    return this.stack[this.stack.length - 1] ?? this.root;
  }

  depth(): number {
    return this.stack.length;
  }

  /** Enters a place, for which a new node is added below the current place. */
  enter(place: GasPlace, name: string): void {
    const parent = this.current();
    this.push(this.isFull() ? this.beyond(parent) : this.append(parent, newNode(place, name)));
  }

  /** Enters a place that has a single node per parent, identified by `key`. Calls `name` only to create that node. */
  enterMerged(place: GasPlace, key: string | number, name: () => string): void {
    this.push(this.mergedNode(this.current(), place, { key, name }));
  }

  /** Leaves places until only `depth` places remain. */
  leaveTo(depth: number): void {
    this.stack.length = Math.max(depth, 1);
  }

  add(gas: bigint): void {
    this.current().self += gas;
    this.total += gas;
  }

  /** Adds gas to a leaf node below the current place. Each place and name has a single leaf. */
  addBelow(place: GasPlace, name: string, gas: bigint): void {
    const node = this.mergedNode(this.current(), place, { key: name, name: () => name });
    node.calls += 1;
    node.self += gas;
    this.total += gas;
  }

  fail(failure: WasmFailure): void {
    if (this.failures.length < MAX_FAILURES) this.failures.push(failure);
  }

  private push(node: GasNode): void {
    node.calls += 1;
    this.stack.push(node);
  }

  private isFull(): boolean {
    return this.nodes >= MAX_NODES || this.stack.length >= MAX_DEPTH;
  }

  private append(parent: GasNode, node: GasNode): GasNode {
    this.nodes += 1;
    parent.children.push(node);
    return node;
  }

  private mergedNode(
    parent: GasNode,
    place: GasPlace,
    { key, name }: { readonly key: string | number; readonly name: () => string },
  ): GasNode {
    const known = this.mergedIn(parent);
    const found = known.get(key);
    if (found !== undefined) return found;
    if (this.isFull()) return this.beyond(parent);
    const node = this.append(parent, newNode(place, name()));
    known.set(key, node);
    return node;
  }

  private mergedIn(parent: GasNode): Map<string | number, GasNode> {
    const known = this.merged.get(parent) ?? new Map<string | number, GasNode>();
    this.merged.set(parent, known);
    return known;
  }

  /** Returns the child of `parent` that combines places beyond the limits, or `parent` itself if it already is such a node. */
  private beyond(parent: GasNode): GasNode {
    if (parent.name === BEYOND) return parent;
    const known = this.mergedIn(parent);
    const node = known.get(BEYOND) ?? this.append(parent, newNode("cost", BEYOND));
    known.set(BEYOND, node);
    return node;
  }
}

function newNode(place: GasPlace, name: string): GasNode {
  return { place, name, calls: 0, self: 0n, children: [] };
}

/**
 * Maximum number of function calls in a profile, which take about ten seconds to profile. A transaction with all of a block's gas
 * could make a thousand times as many calls.
 */
const MAX_CALLS = 20_000_000;

/** Thrown if a transaction makes more function calls than a profile allows. */
export class ProfileTooLargeError extends Error {
  constructor() {
    super(`too many function calls for a profile (more than ${MAX_CALLS})`);
  }
}

export function recordCalls(recorder: GasRecorder): StartTrace {
  return (call) => new CallProfile(recorder, call);
}

/** Profiles the gas of a contract call. At each event, the gas used since the previous event is added to the function that was running. */
class CallProfile implements CallTrace {
  private readonly recorder: GasRecorder;
  private readonly call: TracedCall;
  /** Running calls, innermost last: functions by index, host functions by name. */
  private readonly running: (number | string)[] = [];
  private readonly depth: number;
  /** VM gas that the VM had used at the last event. */
  private used = 0n;
  private failedIn: readonly (number | string)[] | undefined;

  constructor(recorder: GasRecorder, call: TracedCall) {
    this.recorder = recorder;
    this.call = call;
    this.depth = recorder.depth();
  }

  enter(index: number): void {
    this.recorder.calls += 1;
    if (this.recorder.calls > MAX_CALLS) throw new ProfileTooLargeError();
    this.flush();
    this.running.push(index);
    this.recorder.enterMerged("function", index, () => this.nameOf(index));
  }

  leave(): void {
    this.flush();
    this.running.pop();
    this.recorder.leaveTo(this.recorder.depth() - 1);
  }

  host<T>(name: string, run: () => T): T {
    const depth = this.recorder.depth();
    const { length } = this.running;
    this.flush();
    this.running.push(name);
    this.recorder.enterMerged("host", name, () => name);
    try {
      return run();
    } catch (thrown) {
      this.failedIn ??= [...this.running];
      throw thrown;
    } finally {
      this.flush();
      this.running.length = length;
      this.recorder.leaveTo(depth);
    }
  }

  end(error: string | undefined): void {
    this.flush();
    this.recorder.leaveTo(this.depth);
    if (error === undefined) return;
    const stack = (this.failedIn ?? this.running).map((one) => this.nameOf(one)).toReversed();
    this.recorder.fail({ error, stack });
  }

  decode(gas: bigint): void {
    this.recorder.addBelow("cost", "result decoding", gas);
  }

  private flush(): void {
    const { gas, limit } = this.call;
    const used = limit - gas.gasLeft() - gas.external;
    this.recorder.add(used - this.used);
    this.used = used;
  }

  private nameOf(one: number | string): string {
    if (typeof one === "string") return one;
    const name = this.call.functionName(one);
    return name === undefined ? `func[${one}]` : demangle(name);
  }
}
