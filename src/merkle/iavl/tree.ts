import { removeKey, setKey } from "./mutate.ts";
import type { IavlNode, ReadNode } from "./node.ts";
import { decodeNode, decodeNodeId, encodeNodeId, IavlError } from "./node-codec.ts";
import { nodesOnlyIn, type VersionRoot } from "./prune.ts";
import { idOf, type NodeBytes, savedId, saveNewNodes } from "./save.ts";
import { createIavlReader, createIavlView, type IavlReader, type IavlView, rootHashOf } from "./view.ts";

/** Versions whose nodes stay in memory when there is a storage to read them from again. */
const RECENT_VERSIONS = 16;

/** Where a tree's nodes are kept. */
export interface IavlStorage {
  /** Gives the bytes that a `commit` wrote under this id. */
  readonly load: (id: Uint8Array) => Uint8Array | undefined;
  /** Kept versions, ascending; an absent `rootId` is an empty tree. The last one is the latest. */
  readonly versions: readonly { readonly version: bigint; readonly rootId: Uint8Array | undefined }[];
}

/** One version, saved. `rootId` is that of an older version when nothing changed, and absent for an empty tree. */
export interface IavlCommit {
  readonly version: bigint;
  readonly rootHash: Uint8Array;
  readonly rootId: Uint8Array | undefined;
  readonly writes: readonly NodeBytes[];
}

/**
 * A versioned IAVL tree. Reads see the working tree; iterators see it as it was when they were made.
 * Keys and values are kept, not copied: they must not be changed afterwards.
 */
export interface IavlTree extends IavlReader {
  /** Throws `IavlError` for an empty key. */
  readonly set: (key: Uint8Array, value: Uint8Array) => void;
  /** False when the key was not there. */
  readonly remove: (key: Uint8Array) => boolean;
  /** The latest version; 0 before the first commit. */
  readonly version: () => bigint;
  /** Versions that `at` gives, ascending. */
  readonly versions: () => readonly bigint[];
  /** Saves the working tree as the next version. The caller keeps `writes`. */
  readonly commit: () => IavlCommit;
  /** Takes back what was done since the last commit. */
  readonly rollback: () => void;
  /** A kept version, or undefined. */
  readonly at: (version: bigint) => IavlView | undefined;
  /** Forgets a kept version but the latest; gives the ids of the nodes that no kept version needs any more. */
  readonly release: (version: bigint) => readonly Uint8Array[];
}

/**
 * A tree in memory, or one over a storage (also an empty one), from which it reads nodes as it needs them.
 *
 * With a storage only nodes of the latest tree and of the last 16 versions stay in memory; what a commit writes must be in
 * the storage before the 16th commit after it. The first commit of a new tree is `firstVersion`.
 * Throws `IavlError`, as does every reading, when a node is missing or broken.
 */
export function createIavlTree(storage?: IavlStorage, firstVersion = 1n): IavlTree {
  const read = createNodeReader(storage);
  const kept: VersionRoot[] = (storage?.versions ?? []).map(({ version, rootId }) => ({
    version: toNumber(version),
    root: rootId && decodeNodeId(rootId),
  }));
  const latest = (): VersionRoot => kept.at(-1) ?? { version: toNumber(firstVersion) - 1, root: undefined };
  let working = rootNode(latest(), read);
  return {
    ...createIavlReader(() => working, read),
    set: (key, value) => {
      working = setKey(working, requireKey(key), value, read);
    },
    remove: (key) => {
      const removal = removeKey(working, key, read);
      if (removal !== undefined) working = removal.root;
      return removal !== undefined;
    },
    version: () => BigInt(kept.at(-1)?.version ?? 0),
    versions: () => kept.map(({ version }) => BigInt(version)),
    commit: () => {
      const committed = { version: latest().version + 1, root: working };
      const writes = working === undefined ? [] : saveNewNodes(working, committed.version, read);
      kept.push(committed);
      if (storage !== undefined) forgetNodes(kept);
      return toCommit(committed.version, working, writes);
    },
    rollback: () => {
      working = rootNode(latest(), read);
    },
    at: (version) => {
      const found = kept.findLast((candidate) => BigInt(candidate.version) === version);
      return found && createIavlView(version, rootNode(found, read), read);
    },
    release: (version) => releaseVersion(kept, version, read),
  };
}

function rootNode({ root }: VersionRoot, read: ReadNode): IavlNode | undefined {
  return root === undefined || "kind" in root ? root : read(root);
}

/** Keeps only the root's id of the version that stops being recent, so that its old nodes leave the memory. */
function forgetNodes(kept: VersionRoot[]): void {
  const index = kept.length - 1 - RECENT_VERSIONS;
  const old = kept[index];
  if (old?.root !== undefined) kept[index] = { version: old.version, root: idOf(old.root) };
}

function toCommit(version: number, root: IavlNode | undefined, writes: readonly NodeBytes[]): IavlCommit {
  return {
    version: BigInt(version),
    rootHash: rootHashOf(root),
    rootId: root && encodeNodeId(savedId(root)),
    writes,
  };
}

function releaseVersion(kept: VersionRoot[], version: bigint, read: ReadNode): readonly Uint8Array[] {
  const index = kept.findIndex((candidate) => BigInt(candidate.version) === version);
  const released = kept[index];
  const newer = kept[index + 1];
  if (released === undefined || newer === undefined) {
    throw new IavlError({ code: "bad-version", version }, `version ${version} is the latest or is not kept`);
  }
  const ids = nodesOnlyIn(released, { older: kept[index - 1], newer }, read);
  kept.splice(index, 1);
  return ids.map(encodeNodeId);
}

function createNodeReader(storage: IavlStorage | undefined): ReadNode {
  return (id) => {
    const bytes = storage?.load(encodeNodeId(id));
    if (bytes !== undefined) return decodeNode(id, bytes);
    throw new IavlError(
      { code: "missing-node", ...id },
      `tree node ${id.nonce} of version ${id.version} is missing from the storage`,
    );
  };
}

function requireKey(key: Uint8Array): Uint8Array {
  if (key.length === 0) throw new IavlError({ code: "empty-key" }, "a key of a tree cannot be empty");
  return key;
}

function toNumber(version: bigint): number {
  if (version >= 0n && version < 2n ** 52n) return Number(version);
  throw new IavlError({ code: "bad-version", version }, `version ${version} is out of range`);
}
