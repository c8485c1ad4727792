import type { IavlNode, NodeId, ReadNode } from "./node.ts";
import { idOf } from "./save.ts";

/** A version and its root: a node, the id of a saved node, or undefined for an empty tree. */
export interface VersionRoot {
  readonly version: number;
  readonly root: IavlNode | NodeId | undefined;
}

/**
 * Returns the nodes that `released` has and no kept version has. `kept` names the nearest kept version on each side.
 *
 * A node is in every version from the one that created it to the last one that has it, without a gap. So the returned
 * nodes are those that were created after `older` and are not in `newer`. The version of a child is at most that of its
 * parent. So the id of a node decides for its subtree too, and the walk visits only nodes that changed between the
 * three versions.
 */
export function nodesOnlyIn(
  released: VersionRoot,
  kept: { readonly older: VersionRoot | undefined; readonly newer: VersionRoot | undefined },
  read: ReadNode,
): readonly NodeId[] {
  const oldest = kept.older?.version ?? 0;
  // The highest nodes that `newer` shares with `released`. Everything below them is shared too.
  const shared = new Set<string>();
  visitTree(kept.newer?.root, read, (id) => {
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

/** Visits parents before children. Visits the children of a node only if `enter` returns true for it. */
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
