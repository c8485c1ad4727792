import { decodeMerkleProof } from "../../src/cosmos/merkle/ics23/decode-proof.ts";
import ics23 from "@confio/ics23";
import { concat, utf8, sha256 } from "../../src/platform/base/bytes.ts";
import { createIavlTree } from "../../src/cosmos/merkle/iavl/tree.ts";
import { createProofVerifier, type ProofItem } from "../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { verifyMembership, verifyNonMembership } from "../../src/cosmos/merkle/ics23/verify-merkle-proof.ts";
import { simpleMapProof, simpleMapRoot } from "../../src/cosmos/merkle/simple-map.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { processorMs } from "./measure.ts";

const KEYS = 1_000;
const TOGETHER = 300;
const STORES = 20;
/** Number of repetitions; the best one counts. Other programs can only make a figure worse. */
const ROUNDS = { full: 12, quick: 4 };

interface ProofSet {
  readonly root: Uint8Array;
  readonly storeRoot: Uint8Array;
  readonly present: readonly ProofItem[];
  readonly absent: readonly ProofItem[];
}

/** Proofs of a bank-like store of 1,000 keys in a multistore of 20 stores, all of one height. */
function makeProofs(): ProofSet {
  const tree = createIavlTree();
  for (let index = 0; index < KEYS; index++) {
    tree.set(balanceKey(index), utf8(String(1_000_000 + index)));
    if (index % 50 === 0) tree.commit();
  }
  const view = tree.at(tree.commit().version);
  if (view === undefined) throw new Error("the committed version is not kept");
  const others = Array.from({ length: STORES - 1 }, (_, index) => ({
    name: `store${index}`,
    hash: sha256(utf8(String(index))),
  }));
  const stores = [{ name: "bank", hash: view.rootHash }, ...others];
  const upper = simpleMapProof(stores, "bank");
  if (upper === undefined) throw new Error("the multistore has no bank");
  const item = (key: Uint8Array): ProofItem => ({
    store: "bank",
    key,
    value: view.get(key),
    operations: [view.proof(key), upper.slice()],
  });
  const indices = Array.from({ length: TOGETHER }, (_, index) => index * Math.floor(KEYS / TOGETHER));
  return {
    root: simpleMapRoot(stores),
    storeRoot: view.rootHash,
    present: indices.map((index) => item(balanceKey(index))),
    absent: indices.map((index) => item(balanceKey(KEYS + index))),
  };
}

function balanceKey(index: number): Uint8Array {
  return concat(Uint8Array.of(2, 20), sha256(utf8(`account ${index}`)).subarray(0, 20), utf8("untrn"));
}

/** Verifies as a chain does for one result: decodes and verifies both levels, without a cache. */
function verifySingly(root: Uint8Array, { store, key, value, operations }: ProofItem): boolean {
  const proof = decodeMerkleProof(operations);
  if (!proof.ok) return false;
  const claim = { root, store, key, proof: proof.value };
  return (value === undefined ? verifyNonMembership(claim) : verifyMembership(claim, value)).ok;
}

/** The same with `@confio/ics23`: decode and verify both levels. */
function verifyWithConfio({ root, storeRoot }: ProofSet, item: ProofItem): boolean {
  const [lower, upper] = (item.operations ?? []).map((bytes) => ics23.ics23.CommitmentProof.decode(bytes));
  if (lower === undefined || upper === undefined) return false;
  const inStore =
    item.value === undefined
      ? ics23.verifyNonMembership(lower, ics23.iavlSpec, storeRoot, item.key)
      : ics23.verifyMembership(lower, ics23.iavlSpec, storeRoot, item.key, item.value);
  return inStore && ics23.verifyMembership(upper, ics23.tendermintSpec, root, utf8(item.store), storeRoot);
}

/** One method of verifying all items of a set. Returns the number of valid items. */
interface Way {
  readonly name: string;
  readonly note: string;
  readonly repeat: number;
  readonly verifyAll: () => number;
}

function waysOf(set: ProofSet, items: readonly ProofItem[]): readonly Way[] {
  const count = (accepts: (item: ProofItem) => boolean) => () => items.filter(accepts).length;
  const warm = createProofVerifier();
  return [
    {
      name: "one by one",
      note: "decoded and verified, two levels",
      repeat: 10,
      verifyAll: count((item) => verifySingly(set.root, item)),
    },
    {
      name: `${TOGETHER} of one height together`,
      note: "a new verifier each time",
      repeat: 10,
      verifyAll: () => {
        const fresh = createProofVerifier();
        return items.filter((item) => fresh.verify(set.root, item).ok).length;
      },
    },
    {
      name: `${TOGETHER} of one height again`,
      note: "a verifier that has verified them before",
      repeat: 10,
      verifyAll: count((item) => warm.verify(set.root, item).ok),
    },
    {
      name: "@confio/ics23",
      note: "one by one, decoded and verified, two levels",
      repeat: 1,
      verifyAll: count((item) => verifyWithConfio(set, item)),
    },
  ];
}

/** Items per second of processor time in one repetition. Throws when an item is invalid. */
function rateOf({ repeat, verifyAll }: Way, items: number): number {
  const start = processorMs();
  for (let run = 0; run < repeat; run++) {
    if (verifyAll() !== items) throw new Error("a proof of the benchmark does not verify");
  }
  return Math.round((items * repeat * 1_000) / (processorMs() - start));
}

interface Kind {
  readonly kind: string;
  /** Rate of ibc-go's verifier on one core of another machine. */
  readonly goVerifier: string;
}

/** The methods alternate, so that other programs slow down all of them. */
function ratesOf(
  { kind, goVerifier }: Kind,
  set: ProofSet,
  items: readonly ProofItem[],
  rounds: number,
): readonly BenchRow[] {
  const ways = waysOf(set, items);
  const best = ways.map(() => 0);
  for (let round = 0; round < rounds; round++) {
    for (const [index, way] of ways.entries()) {
      best[index] = Math.max(best[index] ?? 0, rateOf(way, items.length));
    }
  }
  return ways.map(({ name, note }, index) => ({
    name: `${kind} proofs, ${name}`,
    value: best[index] ?? 0,
    unit: "proofs/s",
    note: `${note}; best of ${rounds} repetitions, per second of one core`,
    beside: `Go verifier ${goVerifier}`,
  }));
}

/** Proofs verified per second on one core, beside `@confio/ics23` in the same run. Takes a few seconds. */
export function benchProofs({ quick }: BenchSettings): readonly BenchRow[] {
  const set = makeProofs();
  const rounds = quick ? ROUNDS.quick : ROUNDS.full;
  return [
    ...ratesOf({ kind: "existence", goVerifier: "31,900" }, set, set.present, rounds),
    ...ratesOf({ kind: "absence", goVerifier: "33,900" }, set, set.absent, rounds),
  ];
}
