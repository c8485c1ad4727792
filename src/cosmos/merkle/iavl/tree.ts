import { removeKey, setKey } from "./mutate.ts";
import {
  decodeNode,
  decodeNodeId,
  encodeNode,
  encodeNodeId,
  hashInner,
  hashLeaf,
  IavlError,
  type IavlNode,
  idOf,
  type Inner,
  type NodeId,
  type ReadNode,
  savedHash,
  savedId,
} from "./node.ts";
import { createIavlReader, createIavlView, type IavlView, rootHashOf } from "./view.ts";

/** Number of most recent versions whose nodes a tree with storage keeps in memory. */
const RECENT_VERSIONS = 16;

export interface IavlStorage {
  /** Returns the encoded node with this id, exactly as an earlier `commit` returned it in `writes`. */
  readonly load: (id: Uint8Array) => Uint8Array | undefined;
  /** The stored versions, ascending, each with the id of its root node, which is undefined for an empty tree. */
  readonly versions: readonly { readonly version: bigint; readonly rootId: Uint8Array | undefined }[];
}

export type IavlTree = ReturnType<typeof createIavlTree>;

/**
 * Creates a versioned IAVL tree. Reads access the working tree, which includes uncommitted changes. Changes after the creation of
 * an iterator do not affect the iterator. The tree does not copy keys and values, so callers must not change them.
 *
 * Without storage, all nodes stay in memory.
 *
 * With storage, the tree reads nodes on demand, and keeps only the nodes of the working tree and of the latest 16 versions in
 * memory. The caller must therefore store a commit's writes before the 16th commit that follows. The first commit of a new tree is
 * version `firstVersion`. Opening the tree and every read throw `IavlError` if a node is missing or broken.
 */
export function createIavlTree(storage?: IavlStorage, firstVersion = 1n) {
  const read = createNodeReader(storage);
  const retained: VersionRoot[] = (storage?.versions ?? []).map(({ version, rootId }) => ({
    version: toNumber(version),
    root: rootId && decodeNodeId(rootId),
  }));
  const latest = (): VersionRoot =>
    retained.at(-1) ?? { version: toNumber(firstVersion) - 1, root: undefined };
  let working = rootNode(latest(), read);
  return {
    ...createIavlReader(() => working, read),
    /** Sets a key in the working tree. Throws `IavlError` if the key is empty. */
    set: (key: Uint8Array, value: Uint8Array): void => {
      working = setKey(working, requireKey(key), value, read);
    },
    /** Removes a key from the working tree. Returns false if the tree does not contain the key. */
    remove: (key: Uint8Array): boolean => {
      const removal = removeKey(working, key, read);
      if (removal !== undefined) working = removal.root;
      return removal !== undefined;
    },
    /** Returns the latest version, or 0 before the first commit. */
    version: (): bigint => BigInt(retained.at(-1)?.version ?? 0),
    /** Returns the retained versions, ascending. */
    versions: (): readonly bigint[] => retained.map(({ version }) => BigInt(version)),
    /**
     * Saves the working tree as the next version. The caller must store `writes`, which are the new nodes. `rootId` is the root's
     * id, which is from an older version if nothing has changed. For an empty tree, `rootId` is undefined.
     */
    commit: () => {
      const version = latest().version + 1;
      const writes = working === undefined ? [] : saveNewNodes(working, version, read);
      retained.push({ version, root: working });
      if (storage !== undefined) forgetNodes(retained);
      const rootId = working && encodeNodeId(savedId(working));
      return { version: BigInt(version), rootHash: rootHashOf(working), rootId, writes };
    },
    /** Discards all changes since the last commit. */
    rollback: (): void => {
      working = rootNode(latest(), read);
    },
    /** Returns a retained version, or undefined if the version is not retained. */
    at: (version: bigint): IavlView | undefined => {
      const found = retained.findLast((candidate) => BigInt(candidate.version) === version);
      return found && createIavlView(version, rootNode(found, read), read);
    },
    /**
     * Removes a retained version and returns the ids of nodes that no retained version needs, for the caller to delete. Throws
     * `IavlError` for the latest version and for a version that is not retained.
     */
    release: (version: bigint): readonly Uint8Array[] => releaseVersion(retained, version, read),
  };
}

function rootNode({ root }: VersionRoot, read: ReadNode): IavlNode | undefined {
  return root === undefined || "kind" in root ? root : read(root);
}

/**
 * Replaces one old version's root with its id, so that the garbage collector can free the nodes that no newer version shares. One
 * call per commit is enough, because with each commit, only one more version leaves the latest 16 versions.
 */
function forgetNodes(retained: VersionRoot[]): void {
  const index = retained.length - 1 - RECENT_VERSIONS;
  const old = retained[index];
  if (old?.root !== undefined) retained[index] = { version: old.version, root: idOf(old.root) };
}

function releaseVersion(retained: VersionRoot[], version: bigint, read: ReadNode): readonly Uint8Array[] {
  const index = retained.findIndex((candidate) => BigInt(candidate.version) === version);
  const released = retained[index];
  const newer = retained[index + 1];
  if (released === undefined || newer === undefined) {
    throw new IavlError(
      { code: "bad-version", version },
      `version ${version} is the latest or is not retained`,
    );
  }
  const ids = nodesOnlyIn(released, { older: retained[index - 1], newer }, read);
  retained.splice(index, 1);
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

/** Converts a version to a number. Throws for 2^52 and above, because the zigzag encoding doubles the version and must stay exact. */
function toNumber(version: bigint): number {
  if (version >= 0n && version < 2n ** 52n) return Number(version);
  throw new IavlError({ code: "bad-version", version }, `version ${version} is out of range`);
}

/** A node as stored: the 12 bytes of its id, and its encoding. */
interface NodeBytes {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Sets the id and hash of every new node in the tree at `root`. Returns these nodes in encoded form, children before parents. */
function saveNewNodes(root: IavlNode, version: number, read: ReadNode): readonly NodeBytes[] {
  const writes: NodeBytes[] = [];
  let nonce = 0;
  const save = (node: IavlNode): void => {
    // A node that has an id has already been saved, together with its subtree.
    if (node.id !== undefined) return;
    nonce += 1;
    const id = { version, nonce };
    // A parent gets its nonce before its children (pre-order), but its hash after its children, because the hash covers the
    // children's hashes.
    if (node.kind === "inner") saveChildren(node, save);
    node.id = id;
    node.hash = hashNode(node, version, read);
    writes.push({ id: encodeNodeId(id), bytes: encodeNode(node, node.hash, idOf) });
  };
  save(root);
  return writes;
}

function saveChildren(node: Inner, save: (node: IavlNode) => void): void {
  if ("kind" in node.left) save(node.left);
  if ("kind" in node.right) save(node.right);
}

function hashNode(node: IavlNode, version: number, read: ReadNode): Uint8Array {
  if (node.kind === "leaf") return hashLeaf(node, version);
  const left = childHash(node.left, read);
  return hashInner(node, version, { left, right: childHash(node.right, read) });
}

function childHash(child: IavlNode | NodeId, read: ReadNode): Uint8Array {
  return savedHash("kind" in child ? child : read(child));
}

/** A version and its root: a node, a saved node's id, or undefined for an empty tree. */
interface VersionRoot {
  readonly version: number;
  readonly root: IavlNode | NodeId | undefined;
}

/**
 * Returns the nodes that are in `released` but in no retained version. `retained` contains the nearest retained versions before and
 * after `released`.
 *
 * A node belongs to every version from its creation to the last version that contains it, without gaps. The returned nodes were
 * therefore created after `older` and are not in `newer`. A child's version never exceeds its parent's version, so a node's version
 * is an upper bound for its whole subtree. The walk therefore visits only nodes that changed between the three versions.
 */
function nodesOnlyIn(
  released: VersionRoot,
  retained: { readonly older: VersionRoot | undefined; readonly newer: VersionRoot | undefined },
  read: ReadNode,
): readonly NodeId[] {
  const oldest = retained.older?.version ?? 0;
  // Ids of the topmost nodes that `newer` shares with `released`. All nodes below a shared node are shared too.
  const shared = new Set<string>();
  visitTree(retained.newer?.root, read, (id) => {
    if (id.version > released.version) return true;
    shared.add(idText(id));
    return false;
  });
  const found: NodeId[] = [];
  visitTree(released.root, read, (id) => {
    if (id.version <= oldest || shared.has(idText(id))) return false;
    found.push(id);
    return true;
  });
  return found;
}

/** Visits parents before children, and a node's children only if `enter` returns true for the node. */
function visitTree(root: VersionRoot["root"], read: ReadNode, enter: (id: NodeId) => boolean): void {
  const pending: (IavlNode | NodeId)[] = root === undefined ? [] : [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!enter(idOf(next))) continue;
    const node = "kind" in next ? next : read(next);
    if (node.kind === "inner") pending.push(node.right, node.left);
  }
}

function idText(id: NodeId): string {
  return `${id.version}.${id.nonce}`;
}
