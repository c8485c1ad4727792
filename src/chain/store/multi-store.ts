import { utf8 } from "../../base/bytes.ts";
import { unreachable } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import { createIavlTree, type IavlTree } from "../../merkle/iavl/tree.ts";
import type { IavlReader, IavlView } from "../../merkle/iavl/view.ts";
import { simpleMapProof, simpleMapRoot, type StoreRoot } from "../../merkle/simple-map.ts";
import type { ProofOperator } from "../abci.ts";
import { type Branch, createBranch } from "./branch.ts";
import type { KVStore } from "./kv-store.ts";
import type { CommitChanges, StateStorage } from "./state-storage.ts";

/** How many heights stay readable when nobody says otherwise. */
export const DEFAULT_KEEP_RECENT = 1000;

/** How a {@link MultiStore} is made. */
export interface MultiStoreOptions {
  readonly stores: readonly string[];
  /** Heights that stay readable, the latest included; at least 2. */
  readonly keepRecent: number;
  /** Height of the first commit of an empty state. */
  readonly initialHeight: bigint;
  /** Where saved state is read from; without it the state begins empty. */
  readonly storage?: StateStorage;
}

/** All stores at one committed height; writing to them is our bug and throws. */
export interface StoreView {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly store: (name: string) => KVStore;
  readonly has: (name: string) => boolean;
  /** The ICS-23 operators of a key: that of the tree, then that of the store in the app hash. */
  readonly prove: (name: string, key: Uint8Array) => readonly ProofOperator[];
}

/** The versioned state: one IAVL tree per store, and the simple Merkle map of their roots as app hash. */
export interface MultiStore {
  /** Height of the last commit; 0 before the first. */
  readonly height: () => bigint;
  /** A kept height; height 0 gives the empty state before the first commit. */
  readonly view: (height: bigint) => StoreView | undefined;
  /** A layer above the latest height whose `write` goes into the working trees. */
  readonly branch: () => Branch;
  /** Makes the working trees the next height. */
  readonly commit: () => CommitChanges;
}

/** Opens the state. Throws `IavlError` when a root that the storage names is missing or broken. */
export function createMultiStore(options: MultiStoreOptions): MultiStore {
  if (options.keepRecent < 2) throw new RangeError("at least 2 heights must be kept");
  const saved = readSavedHeights(options);
  const trees = new Map(options.stores.toSorted().map((name) => [name, openTree(name, options, saved)]));
  const views = new Map<bigint, StoreView>();
  let kept = saved.map(({ height }) => height);
  return {
    height: () => kept.at(-1) ?? 0n,
    view: (height) => {
      if (height !== 0n && !kept.includes(height)) return undefined;
      const view = views.get(height) ?? createView(trees, height);
      rememberView(views, view);
      return view;
    },
    branch: () => createBranch((name) => workingStore(requireStore(trees, name))),
    commit: () => {
      const height = nextHeight(kept, options);
      const expired = kept.slice(0, Math.max(0, kept.length + 1 - options.keepRecent));
      kept = [...kept.slice(expired.length), height];
      for (const old of expired) views.delete(old);
      return commitTrees(trees, height, expired);
    },
  };
}

/** Views that are kept ready; older ones are made again when they are asked for. */
const MAX_READY_VIEWS = 16;

function rememberView(views: Map<bigint, StoreView>, view: StoreView): void {
  views.set(view.height, view);
  for (const height of views.keys()) {
    if (views.size <= MAX_READY_VIEWS) return;
    views.delete(height);
  }
}

function nextHeight(kept: readonly bigint[], options: MultiStoreOptions): bigint {
  const latest = kept.at(-1);
  return latest === undefined ? options.initialHeight : latest + 1n;
}

/** One height of the storage. */
interface SavedHeight {
  readonly height: bigint;
  readonly roots: CommitChanges["roots"];
}

/**
 * Heights of the storage that are still whole. A root that is there has all that is below it: a node goes only when no
 * kept height needs it. Older heights may be listed after their nodes went.
 */
function readSavedHeights({ storage, keepRecent }: MultiStoreOptions): readonly SavedHeight[] {
  if (storage === undefined) return [];
  const recent = storage
    .heights()
    .slice(-keepRecent)
    .map((height) => ({ height, roots: storage.roots(height) }));
  const firstWhole = recent.findIndex(({ roots }) =>
    roots.every(({ store, rootId }) => rootId === undefined || storage.node(store, rootId) !== undefined),
  );
  if (recent.length > 0 && firstWhole < 0)
    throw new Error(`the state of height ${recent.at(-1)?.height} is not whole: tree nodes are missing`);
  return recent.slice(firstWhole);
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

function createView(trees: ReadonlyMap<string, IavlTree>, height: bigint): StoreView {
  const views = new Map(
    [...trees].map(([name, tree]) => [name, height === 0n ? undefined : tree.at(height)]),
  );
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
  const ofStore = simpleMapProof(roots, name);
  if (view === undefined || ofStore === undefined) return [];
  return [
    { type: "ics23:iavl", key, data: view.proof(key) },
    { type: "ics23:simple", key: utf8(name), data: ofStore },
  ];
}

function requireStore<T>(stores: ReadonlyMap<string, T>, name: string): T {
  return stores.get(name) ?? unreachable(`there is no store ${name}`);
}

/** The tree as a store. Iterators see the tree as it was when they were made. */
function workingStore(tree: IavlTree): KVStore {
  return {
    ...reading(tree),
    set: tree.set,
    delete: (key) => {
      tree.remove(key);
    },
  };
}

function readOnlyStore(tree: IavlTree, view: IavlView | undefined): KVStore {
  const refuse = (): never => unreachable(`a committed state was written to (version ${tree.version()})`);
  return { ...(view === undefined ? NOTHING : reading(view)), set: refuse, delete: refuse };
}

type Reading = Pick<KVStore, "get" | "has" | "iterate" | "iterateReverse">;

const NOTHING: Reading = {
  get: () => undefined,
  has: () => false,
  iterate: () => [].values(),
  iterateReverse: () => [].values(),
};

function reading(reader: IavlReader): Reading {
  return {
    get: reader.get,
    has: reader.has,
    iterate: (start, end) => reader.iterate(start, end, "ascending"),
    iterateReverse: (start, end) => reader.iterate(start, end, "descending"),
  };
}
