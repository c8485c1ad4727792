import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "../../platform/base/json.ts";
import { isoTime, NS_PER_MS } from "../../platform/base/time.ts";
import { PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { NodeError } from "../node/base/errors.ts";
import type { RunningNode } from "../node/create-node.ts";
import { openBlockStore } from "../node/storage/block-store.ts";
import type { ChainClock } from "./chain-clock.ts";
import { maxInt } from "../../platform/base/integers.ts";

/** A point in time to which both chains can be reverted. */
interface LocalnetSnapshot {
  readonly id: number;
  /** The later of both chains' block times at the snapshot, in ISO 8601 format. */
  readonly time: string;
  /** The height of each chain at the snapshot, keyed by chain id. */
  readonly heights: Readonly<Record<string, bigint>>;
}

/** Takes, lists and removes snapshots of both chains, and reverts the chains to them. Methods throw `NodeError` `bad-snapshot`. */
export type LocalnetSnapshots = ReturnType<typeof createSnapshots>;

/** Maximum number of snapshots. The number is limited, because the chains cannot prune state that a snapshot needs. */
const MAX_SNAPSHOTS = 20;

/** File that exists only during a revert. The file contains a JSON object with each chain's target height, keyed by chain id. */
const REVERT_FILE = "revert.json";

/**
 * Creates the manager for snapshots of both chains. `home` is the parent directory of the chains' homes, or undefined if the
 * chains are in memory.
 */
export function createSnapshots(nodes: readonly RunningNode[], clock: ChainClock, home: string | undefined) {
  const stored = () => nodes.map((node) => ({ node, snapshots: node.control.snapshots() }));
  const list = (): readonly LocalnetSnapshot[] => {
    const [first, ...others] = stored();
    // Skip snapshots that exist on only one chain, e.g. because the process ended while taking the snapshot or because the other
    // chain pruned the block.
    return (first?.snapshots ?? [])
      .filter(({ id }) => others.every(({ snapshots }) => snapshots.some((one) => one.id === id)))
      .map(({ id }) => describe(id));
  };
  const describe = (id: number): LocalnetSnapshot => {
    const places = stored().flatMap(({ node, snapshots }) => {
      const found = snapshots.find((one) => one.id === id);
      return found === undefined ? [] : [{ node, height: found.height }];
    });
    const times = places.map(({ node, height }) => node.view.block(height)?.header.timeNs ?? 0n);
    const newestNs = times.reduce(maxInt, 0n);
    return {
      id,
      time: isoTime(Number(newestNs / NS_PER_MS)),
      heights: Object.fromEntries(places.map(({ node, height }) => [node.genesis.chainId, height])),
    };
  };
  const find = (id: number): LocalnetSnapshot => {
    const found = list().find((one) => one.id === id);
    if (found !== undefined) return found;
    const ids = list().map((one) => one.id);
    throw badSnapshot(
      `no snapshot ${id}; ${ids.length === 0 ? "there are no snapshots" : `available: ${ids.join(", ")}`}. A snapshot is lost when its block is pruned or the chains revert to an earlier state`,
    );
  };
  return {
    list,
    take: (): LocalnetSnapshot => {
      const known = list().map(({ id }) => id);
      if (known.length >= MAX_SNAPSHOTS)
        throw badSnapshot(`limit of ${MAX_SNAPSHOTS} snapshots reached; remove one first`);
      for (const { node, snapshots } of stored())
        node.control.removeSnapshots(snapshots.map((one) => one.id).filter((one) => !known.includes(one)));
      const id = 1 + Math.max(0, ...known);
      const aheadMs = clock.aheadMs();
      for (const { control } of nodes) control.takeSnapshot({ id, aheadMs });
      return describe(id);
    },
    remove: (id: number) => {
      find(id);
      for (const { control } of nodes) control.removeSnapshots([id]);
    },
    /** Reverts both chains to a snapshot. All later blocks and snapshots are lost. */
    revert: (id: number): LocalnetSnapshot => {
      const snapshot = find(id);
      const aheadMs = nodes[0]?.control.snapshots().find((one) => one.id === id)?.aheadMs ?? 0;
      if (home !== undefined) writeRevert(home, snapshot.heights);
      for (const { control, genesis } of nodes) control.revert(snapshot.heights[genesis.chainId] ?? 0n);
      if (home !== undefined) rmSync(join(home, REVERT_FILE));
      clock.goBack(aheadMs);
      return snapshot;
    },
  };
}

function badSnapshot(text: string): NodeError {
  return new NodeError({ code: "bad-snapshot" }, text);
}

function writeRevert(home: string, heights: LocalnetSnapshot["heights"]): void {
  const texts = Object.fromEntries(Object.entries(heights).map(([id, height]) => [id, height.toString()]));
  const file = openSync(join(home, REVERT_FILE), "w", PRIVATE_FILE_MODE);
  try {
    writeSync(file, JSON.stringify(texts));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Completes a revert during which the process ended. Throws the errors of `openBlockStore` and `BlockStore.truncate`. */
export function finishRevert(home: string): void {
  const path = join(home, REVERT_FILE);
  if (!existsSync(path)) return;
  const heights = parseJson(readFileSync(path, "utf8"));
  // If the file is incomplete, no chain has been reverted yet, because the file is written completely before the revert starts.
  for (const [chainId, height] of Object.entries(isRecord(heights) ? heights : {})) {
    const store = openBlockStore(join(home, chainId));
    try {
      store.truncate(BigInt(String(height)));
    } finally {
      store.close();
    }
  }
  rmSync(path);
}
