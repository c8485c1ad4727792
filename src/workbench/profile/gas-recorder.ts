/** What a node of a gas profile stands for. */
export type GasPlace =
  /** A part of a transaction, or the transaction itself. */
  | "step"
  /** A message, a call of a contract, a reply, a query. */
  | "message"
  | "contract"
  | "query"
  /** Binary code: an entry point, its functions, host functions that it calls. */
  | "wasm"
  | "function"
  | "host"
  /** Gas without a place below it: a kind of store access, an instance, the difference by rounding. */
  | "storage"
  | "cost";

/** A place where gas was used. Gas is VM gas: 140,000 units are one unit of the chain's gas. */
export interface GasNode {
  readonly place: GasPlace;
  readonly name: string;
  calls: number;
  /** Gas of this place without the places below it. Negative only for what is given back, such as a rounding. */
  self: bigint;
  readonly children: GasNode[];
  /** Text of the error that ended it. */
  error?: string;
}

/** A failed call of binary code. */
export interface WasmFailure {
  /** In the VM's words. */
  readonly error: string;
  /** Names of the functions that were running, innermost first. */
  readonly stack: readonly string[];
}

/** Where the gas of a transaction was used. All gas of `root` and below adds up to `gasUsed` times 140,000. */
export interface GasProfile {
  /** The chain's gas. */
  readonly gasUsed: bigint;
  readonly root: GasNode;
  /** Failed calls of binary code, in their order. */
  readonly failures: readonly WasmFailure[];
}

/** Most nodes of a profile. Further places are added up in one node of their parent. */
const MAX_NODES = 20_000;
/** Deepest node. Deeper calls are added up in the same way. */
const MAX_DEPTH = 150;
/** Most failures. A transaction ends with its first one, unless contracts handle it. */
const MAX_FAILURES = 16;

/** Name of the node with what is beyond the bounds. */
export const BEYOND = "(deeper or further calls)";

/** Builds the tree of one profile. Places are entered and left in the order of the calls. */
export class GasRecorder {
  readonly root: GasNode;
  readonly failures: WasmFailure[] = [];
  /** Gas of all nodes. */
  total = 0n;
  /** Calls of functions of binary code. */
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

  /** Enters a place that has a node for each time it is entered. */
  enter(place: GasPlace, name: string): void {
    const parent = this.current();
    this.push(this.isFull() ? this.beyond(parent) : this.append(parent, newNode(place, name)));
  }

  /** Enters a place that has one node in its parent, by a key that is unique there. `name` is asked once. */
  enterMerged(place: GasPlace, key: string | number, name: () => string): void {
    this.push(this.mergedNode(this.current(), place, { key, name }));
  }

  /** Leaves places until `depth` are left. */
  leaveTo(depth: number): void {
    this.stack.length = Math.max(depth, 1);
  }

  /** Adds gas to the current place. */
  add(gas: bigint): void {
    this.current().self += gas;
    this.total += gas;
  }

  /** Adds gas to a place below the current one that has nothing below itself. */
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

  /** Returns the node for what is beyond the bounds. It has no children: it is its own. */
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
