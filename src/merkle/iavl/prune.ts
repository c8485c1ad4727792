import type { IavlNode, NodeId, ReadNode } from "./node.ts";
import { idOf } from "./save.ts";

/** A version and the root of its tree, read or not; an absent root is an empty tree. */
export interface VersionRoot {
  readonly version: number;
  readonly root: IavlNode | NodeId | undefined;
}

/**
 * Nodes that only `released` needs, given the kept versions next to it on either side.
 *
 * A node is part of all versions from the one that made it until one replaces it, without a gap. So what `released`
 * has alone was made after `older`, and is not in `newer`. A child is never made after its parent: one look at an id
 * decides for the whole subtree below it. Cost: the nodes that changed between the three versions.
 */
export function nodesOnlyIn(
  released: VersionRoot,
  kept: { readonly older: VersionRoot | undefined; readonly newer: VersionRoot | undefined },
  read: ReadNode,
): readonly NodeId[] {
  const oldest = kept.older?.version ?? 0;
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

/** Parents first; goes below a node only when `enter` says so. */
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
