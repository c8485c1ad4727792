import { createIavlTree, type IavlTree } from "../../../cosmos/merkle/iavl/tree.ts";
import type { IavlReader, IavlView } from "../../../cosmos/merkle/iavl/view.ts";
import { simpleMapProof, simpleMapRoot, type StoreRoot } from "../../../cosmos/merkle/simple-map.ts";
import { sha256, utf8 } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { type Branch, createBranch, type KVStore } from "./cache-store.ts";

/** One operator in a store query's proof, "ics23:iavl" or "ics23:simple", with an encoded CommitmentProof as `data`. */
export interface ProofOperator {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}

/** Default number of recent heights that stay readable ({@link MultiStoreOptions.keepRecent}). */
export const DEFAULT_KEEP_RECENT = 1000;

export interface MultiStoreOptions {
  readonly stores: readonly string[];
  /** Number of recent heights that stay readable, including the latest. At least 2. */
  readonly keepRecent: number;
  /** Height of the first commit to an empty state. */
  readonly initialHeight: bigint;
  /** Storage from which the saved state is loaded. Without storage, the state is empty at first. */
  readonly storage?: StateStorage;
}

/** Read-only view of all stores at one committed height. Writing to a view is a bug and throws a plain error. */
export interface StoreView {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly store: (name: string) => KVStore;
  readonly has: (name: string) => boolean;
  /**
   * Returns ICS-23 operators that prove the key in its tree and the tree in the app hash. Returns an empty list at height 0 and for
   * a store that does not exist.
   */
  readonly prove: (name: string, key: Uint8Array) => readonly ProofOperator[];
}

/** The versioned state: one IAVL tree per store. The app hash is the root of the simple Merkle map of the tree roots. */
export interface MultiStore {
  /** Returns the height of the last commit, or 0 before the first commit. */
  readonly height: () => bigint;
  /** Returns the view at a height, or undefined if the height is not stored. Height 0 is the empty state before the first commit. */
  readonly view: (height: bigint) => StoreView | undefined;
  /** Creates a branch on top of the latest height. Calling `write` on the branch updates the working trees. */
  readonly branch: () => Branch;
  /** Saves the working trees of all stores as the next height. */
  readonly commit: () => CommitChanges;
}

/** Opens the saved state, or an empty state without storage. Throws `IavlError` if a root in the storage is missing or invalid. */
export function createMultiStore(options: MultiStoreOptions): MultiStore {
  if (options.keepRecent < 2) throw new RangeError("at least 2 heights must be stored");
  const saved = readSavedHeights(options);
  // Sort by name, because every commit visits the trees in this order and must write in the same order on every node.
  const trees = new Map(options.stores.toSorted().map((name) => [name, openTree(name, options, saved)]));
  // A saved height can have fewer stores than the program, because upgrades add stores. New commits include all stores.
  const savedStores = new Map(
    saved.map(({ height, roots }) => [height, new Set(roots.map(({ store }) => store))]),
  );
  const views = new Map<bigint, StoreView>();
  let stored = saved.map(({ height }) => height);
  return {
    height: () => stored.at(-1) ?? 0n,
    view: (height) => {
      if (height !== 0n && !stored.includes(height)) return undefined;
      const view = views.get(height) ?? createView(trees, height, savedStores.get(height));
      cacheView(views, view);
      return view;
    },
    branch: () => createBranch((name) => workingStore(requireStore(trees, name))),
    commit: () => {
      const height = nextHeight(stored, options);
      const expired = stored.slice(0, Math.max(0, stored.length + 1 - options.keepRecent));
      stored = [...stored.slice(expired.length), height];
      for (const old of expired) {
        views.delete(old);
        savedStores.delete(old);
      }
      return commitTrees(trees, height, expired);
    },
  };
}

/** Maximum number of cached views. Views that are not cached are rebuilt on request. */
const MAX_CACHED_VIEWS = 16;

/** Adds a view to the cache and evicts the oldest views beyond the limit. */
function cacheView(views: Map<bigint, StoreView>, view: StoreView): void {
  views.set(view.height, view);
  for (const height of views.keys()) {
    if (views.size <= MAX_CACHED_VIEWS) return;
    views.delete(height);
  }
}

function nextHeight(stored: readonly bigint[], options: MultiStoreOptions): bigint {
  const latest = stored.at(-1);
  return latest === undefined ? options.initialHeight : latest + 1n;
}

interface SavedHeight {
  readonly height: bigint;
  readonly roots: CommitChanges["roots"];
}

/**
 * Returns the readable heights in the storage. A height is readable if all its root nodes exist, because a node is deleted only
 * when no stored height needs it. The storage may also list older heights whose nodes have been deleted. Throws if the storage
 * lists heights but none is readable.
 */
function readSavedHeights({ storage, keepRecent }: MultiStoreOptions): readonly SavedHeight[] {
  if (storage === undefined) return [];
  const recent = storage
    .heights()
    .slice(-keepRecent)
    .map((height) => ({ height, roots: storage.roots(height) }));
  const firstReadable = recent.findIndex(({ roots }) =>
    roots.every(({ store, rootId }) => rootId === undefined || storage.node(store, rootId) !== undefined),
  );
  if (recent.length > 0 && firstReadable < 0)
    throw new Error(`the state of height ${recent.at(-1)?.height} is incomplete: tree nodes are missing`);
  return recent.slice(firstReadable);
}

function openTree(name: string, options: MultiStoreOptions, saved: readonly SavedHeight[]): IavlTree {
  const { storage } = options;
  if (storage === undefined) return createIavlTree(undefined, options.initialHeight);
  const versions = saved.map(({ height, roots }) => ({
    version: height,
    rootId: roots.find(({ store }) => store === name)?.rootId,
  }));
  return createIavlTree({ load: (id) => storage.node(name, id), versions }, options.initialHeight);
}

function commitTrees(
  trees: ReadonlyMap<string, IavlTree>,
  height: bigint,
  expired: readonly bigint[],
): CommitChanges {
  // As in the SDK, commit every store at every height, even without changes, because all trees share one version number.
  const commits = [...trees].map(([store, tree]) => ({ store, ...tree.commit() }));
  return {
    height,
    appHash: simpleMapRoot(commits.map(({ store, rootHash }) => ({ name: store, hash: rootHash }))),
    writes: commits.flatMap(({ store, writes }) => writes.map((write) => ({ store, ...write }))),
    expired,
    deletes: [...trees].flatMap(([store, tree]) =>
      expired.flatMap((old) => tree.release(old).map((id) => ({ store, id }))),
    ),
    roots: commits.map(({ store, rootId }) => ({ store, rootId })),
  };
}

/**
 * Creates the view of all stores at a height. `stores` lists the stores that exist at the height. If undefined, all stores exist. A
 * store that does not exist at the height is treated as empty.
 */
function createView(
  trees: ReadonlyMap<string, IavlTree>,
  height: bigint,
  stores: ReadonlySet<string> | undefined,
): StoreView {
  const views = new Map(
    [...trees]
      .filter(([name]) => stores?.has(name) ?? true)
      .map(([name, tree]) => [name, height === 0n ? undefined : tree.at(height)]),
  );
  // As in Go's IAVL, an empty tree's root is the SHA-256 hash of no bytes.
  const roots = (): StoreRoot[] =>
    [...views].map(([name, view]) => ({ name, hash: view?.rootHash ?? sha256(new Uint8Array(0)) }));
  return {
    height,
    appHash: height === 0n ? sha256(new Uint8Array(0)) : simpleMapRoot(roots()),
    has: (name) => views.has(name),
    store: (name) => readOnlyStore(requireStore(trees, name), views.get(name)),
    prove: (name, key) => proveKey(views.get(name), roots(), name, key),
  };
}

function proveKey(
  view: IavlView | undefined,
  roots: readonly StoreRoot[],
  name: string,
  key: Uint8Array,
): readonly ProofOperator[] {
  const storeProof = simpleMapProof(roots, name);
  if (view === undefined || storeProof === undefined) return [];
  return [
    { type: "ics23:iavl", key, data: view.proof(key) },
    { type: "ics23:simple", key: utf8(name), data: storeProof },
  ];
}

function requireStore<T>(stores: ReadonlyMap<string, T>, name: string): T {
  return stores.get(name) ?? unreachable(`no module registered the store ${name}`);
}

function workingStore(tree: IavlTree): KVStore {
  return {
    ...readMethods(tree),
    set: tree.set,
    delete: (key) => {
      tree.remove(key);
    },
  };
}

function readOnlyStore(tree: IavlTree, view: IavlView | undefined): KVStore {
  const reject = (): never => unreachable(`a committed state was written to (version ${tree.version()})`);
  return { ...(view === undefined ? EMPTY_STORE : readMethods(view)), set: reject, delete: reject };
}

type ReadMethods = Pick<KVStore, "get" | "has" | "iterate" | "iterateReverse">;

const EMPTY_STORE: ReadMethods = {
  get: () => undefined,
  has: () => false,
  iterate: () => [].values(),
  iterateReverse: () => [].values(),
};

function readMethods(reader: IavlReader): ReadMethods {
  return {
    get: reader.get,
    has: reader.has,
    iterate: (start, end) => reader.iterate(start, end, "ascending"),
    iterateReverse: (start, end) => reader.iterate(start, end, "descending"),
  };
}

/** A tree node to save, with an id that is unique within its store. */
interface NodeWrite {
  readonly store: string;
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/** State changes of one commit, which the node saves in the same database transaction as the block. */
export interface CommitChanges {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly writes: readonly NodeWrite[];
  /** Tree nodes to delete, because no stored height needs them anymore. */
  readonly deletes: readonly { readonly store: string; readonly id: Uint8Array }[];
  /** Heights that this commit makes unreadable, so that the node can delete their roots. */
  readonly expired?: readonly bigint[];
  /** Root node ids of all stores at this height. For an empty tree, `rootId` is undefined. */
  readonly roots: readonly { readonly store: string; readonly rootId: Uint8Array | undefined }[];
}

/** Synchronous reads of an application's saved state, which the node implements with SQLite. */
export interface StateStorage {
  /** Returns the last saved height, or undefined if the storage is empty. */
  readonly latestHeight: () => bigint | undefined;
  /** Returns the heights with saved roots up to the latest height, in ascending order and without gaps. */
  readonly heights: () => readonly bigint[];
  readonly roots: (height: bigint) => CommitChanges["roots"];
  readonly node: (store: string, id: Uint8Array) => Uint8Array | undefined;
}
