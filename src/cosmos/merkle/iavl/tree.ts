import { removeKey, setKey } from "./mutate.ts";
import type { IavlNode, ReadNode } from "./node.ts";
import { decodeNode, decodeNodeId, encodeNodeId, IavlError } from "./node-codec.ts";
import { nodesOnlyIn, type VersionRoot } from "./prune.ts";
import { idOf, type NodeBytes, savedId, saveNewNodes } from "./save.ts";
import { createIavlReader, createIavlView, type IavlReader, type IavlView, rootHashOf } from "./view.ts";

/** A tree with a storage keeps the nodes of this many versions in memory, up to the latest one. */
const RECENT_VERSIONS = 16;

/** Storage of a tree's nodes. */
export interface IavlStorage {
  /** Returns the bytes of the node with this id, as a `commit` returned them. */
  readonly load: (id: Uint8Array) => Uint8Array | undefined;
  /** Kept versions, ascending. `rootId` is undefined for an empty tree. The last version is the latest. */
  readonly versions: readonly { readonly version: bigint; readonly rootId: Uint8Array | undefined }[];
}

/**
 * Result of a commit. `writes` are the new nodes. `rootId` names a node of an older version if nothing changed, and is
 * undefined for an empty tree.
 */
export interface IavlCommit {
  readonly version: bigint;
  readonly rootHash: Uint8Array;
  readonly rootId: Uint8Array | undefined;
  readonly writes: readonly NodeBytes[];
}

/**
 * A versioned IAVL tree. Reads return the working tree, which includes changes that are not committed. An iterator
 * reads the tree of the time of its creation. The tree keeps keys and values without copying them: callers must not
 * change them.
 */
export interface IavlTree extends IavlReader {
  /** Throws `IavlError` for an empty key. */
  readonly set: (key: Uint8Array, value: Uint8Array) => void;
  /** Returns false if the tree does not have the key. */
  readonly remove: (key: Uint8Array) => boolean;
  /** Returns the latest version; 0 before the first commit. */
  readonly version: () => bigint;
  /** Returns the kept versions, ascending. */
  readonly versions: () => readonly bigint[];
  /** Saves the working tree as the next version. The caller stores `writes`. */
  readonly commit: () => IavlCommit;
  /** Discards all changes since the last commit. */
  readonly rollback: () => void;
  /** Returns a kept version, or undefined. */
  readonly at: (version: bigint) => IavlView | undefined;
  /**
   * Removes a kept version. Returns the ids of the nodes that no kept version needs, for the caller to delete. Throws
   * `IavlError` for the latest version and for a version that is not kept.
   */
  readonly release: (version: bigint) => readonly Uint8Array[];
}

/**
 * Creates a tree. Without a storage, all nodes stay in memory. With a storage, the tree reads nodes when it needs them.
 *
 * With a storage, only nodes of the working tree and of the latest 16 versions stay in memory. So the caller must store
 * the writes of a commit before the 16th commit after it. The first commit of a new tree is version `firstVersion`.
 * Throws `IavlError` if a node is missing or broken; every read does, too.
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

/**
 * Replaces the root of one old version by its id. The garbage collector can then free the nodes that no newer version
 * shares. One call per commit is enough, because each commit makes one more version old.
 */
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

/** Versions are numbers inside the tree. The codec writes 2 * version (zigzag), which must stay exact: hence 2^52. */
function toNumber(version: bigint): number {
  if (version >= 0n && version < 2n ** 52n) return Number(version);
  throw new IavlError({ code: "bad-version", version }, `version ${version} is out of range`);
}
