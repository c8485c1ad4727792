import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMultiStore, type MultiStore } from "../../../../src/localnet/chain/store/multi-store.ts";
import { type BlockStore, openBlockStore } from "../../../../src/localnet/node/storage/block-store.ts";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { storedHeight } from "../../../support/stored-height.ts";

/** Far fewer heights than snapshots live, so what a snapshot keeps is not kept for another reason. */
const KEEP_RECENT = 3;
const STORES = ["one", "two"];

type Step =
  | { readonly kind: "block"; readonly key: number; readonly value: number }
  | { readonly kind: "take" | "restart" }
  | { readonly kind: "revert" | "remove"; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant("block" as const), key: fc.nat(9), value: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("take" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("revert" as const, "remove" as const), which: fc.nat(9) }),
  },
);

/** Snapshots just below the heights that are stored anyway: no gap shows where these begin. */
const BESIDE_RECENT: readonly Step[] = [
  ..."btbttbtb".split(""),
  "remove",
  ..."bbtbbb".split(""),
  "revert",
  "revert",
  ..."bbbbb".split(""),
].map((name, index): Step => {
  if (name === "revert" || name === "remove") return { kind: name, which: 0 };
  return name === "t" ? { kind: "take" } : { kind: "block", key: 0, value: index === 0 ? 1 : 0 };
});

type Block = Pick<Extract<Step, { readonly kind: "block" }>, "key" | "value">;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-snapshot-store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface World {
  readonly home: string;
  readonly store: BlockStore;
  /** The blocks of the chain as it is. */
  blocks: readonly Block[];
  app: MultiStore;
  height: bigint;
  /** App hash by height. */
  readonly hashes: Map<bigint, string>;
  nextId: number;
}

function openWorld(keepBlocks = 0): World {
  const home = mkdtempSync(join(folder, "home-"));
  const store = openBlockStore(home, keepBlocks);
  return { home, store, blocks: [], app: openApp(store), height: 0n, hashes: new Map(), nextId: 1 };
}

const openApp = ({ state }: BlockStore): MultiStore =>
  createMultiStore({ stores: STORES, keepRecent: KEEP_RECENT, initialHeight: 1n, storage: state });

function makeBlock(world: World, { key, value }: Block): void {
  world.blocks = [...world.blocks, { key, value }];
  const branch = world.app.branch();
  const name = key % 2 === 0 ? "one" : "two";
  if (value === 0) branch.store(name).delete(utf8(`key${key}`));
  else branch.store(name).set(utf8(`key${key}`), utf8(`value${value}`));
  branch.write();
  const changes = world.app.commit();
  world.height += 1n;
  world.store.save({ ...storedHeight(world.height, { txs: [[]], block: [] }), changes });
  world.hashes.set(world.height, toHex(changes.appHash));
}

function run(world: World, steps: readonly Step[]): void {
  for (const one of steps) {
    const known = world.store.snapshots();
    if (one.kind === "block") makeBlock(world, one);
    else if (one.kind === "restart") world.app = openApp(world.store);
    else if (one.kind === "take" && world.height > 0n) {
      world.store.saveSnapshot({ id: world.nextId, height: world.height, aheadMs: -world.nextId });
      world.nextId += 1;
    } else if (one.kind === "remove" || one.kind === "revert") {
      const chosen = known[one.which % Math.max(1, known.length)];
      if (chosen === undefined) continue;
      if (one.kind === "remove") world.store.removeSnapshots([chosen.id]);
      else goBack(world, chosen.height);
    }
  }
}

function goBack(world: World, height: bigint): void {
  world.store.truncate(height);
  world.app = openApp(world.store);
  world.height = height;
  world.blocks = world.blocks.slice(0, Number(height));
  expect(world.app.height()).toBe(height);
  expect(world.store.latestHeight()).toBe(height);
  expect(toHex(world.app.view(height)?.appHash ?? new Uint8Array())).toBe(world.hashes.get(height));
  readAll(world.app);
}

/** Reads each key, which throws when a node is missing. */
function readAll(app: MultiStore): readonly string[] {
  const view = app.view(app.height());
  return STORES.flatMap((name) =>
    [...(view?.store(name).iterate() ?? [])].map(([key, value]) => `${name} ${toHex(key)} ${toHex(value)}`),
  );
}

/** Makes blocks until no height before them is stored, and returns contents and tables of the state then. */
function settled(world: World): readonly unknown[] {
  for (let made = 0; made < KEEP_RECENT + 1; made += 1) makeBlock(world, { key: 1, value: 1 + (made % 2) });
  const content = readAll(world.app);
  world.store.close();
  const database = new Database(join(world.home, "node.db"));
  const rows = ["state_nodes", "state_roots", "retained_nodes", "snapshots", "validator_sets", "blocks"].map(
    (table) => database.prepare(`SELECT * FROM ${table}`).raw().all(),
  );
  database.close();
  return [content, rows];
}

describe("the snapshots of a store", () => {
  it("go back to each of them, whatever came between, and leave nothing behind", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps: readonly Step[]) => {
        const world = openWorld();
        run(world, steps);
        for (const { height } of world.store.snapshots().toReversed()) goBack(world, height);
        world.store.removeSnapshots(world.store.snapshots().map(({ id }) => id));
        expect(world.store.snapshots()).toEqual([]);
        const straight = openWorld();
        for (const block of world.blocks) makeBlock(straight, block);
        expect(settled(world)).toEqual(settled(straight));
      }),
      { numRuns: 30, examples: [[BESIDE_RECENT]] },
    );
  });

  it("are no recent heights after a restart, also without a gap between", () => {
    const world = openWorld();
    run(world, [
      ...BESIDE_RECENT.slice(0, 3),
      ...BESIDE_RECENT.slice(5, 6),
      { kind: "block", key: 0, value: 2 },
    ]);
    world.store.close();
    const store = openBlockStore(world.home, 0);
    const app = openApp(store);
    store.removeSnapshots(store.snapshots().map(({ id }) => id));
    expect(app.view(1n)).toBeUndefined();
    store.close();
    const database = new Database(join(world.home, "node.db"));
    expect(database.prepare("SELECT DISTINCT height FROM state_roots").raw().all()).toEqual([[2], [3], [4]]);
    database.close();
  });

  it("end when their block is pruned", () => {
    const world = openWorld(5);
    run(world, [{ kind: "block", key: 1, value: 1 }, { kind: "take" }]);
    for (let made = 0; made < 4; made += 1) makeBlock(world, { key: made, value: 1 });
    expect(world.store.snapshots()).toHaveLength(1);
    makeBlock(world, { key: 1, value: 2 });
    expect(world.store.snapshots()).toEqual([]);
  });
});
