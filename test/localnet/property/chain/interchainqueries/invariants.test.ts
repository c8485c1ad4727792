import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MsgSubmitQueryResult,
  type QueryResult,
} from "../../../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import {
  defaultParams,
  lastId,
  queries,
} from "../../../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { fromBase64, fromHex, toHex, uint64BigEndian } from "../../../../../src/platform/base/bytes.ts";
import { createFakeIbc } from "../../../../support/fake-ibc.ts";
import { fixtureFile } from "../../../../support/fixture-file.ts";
import {
  addContract,
  ALICE,
  AUTHORITY,
  BOB,
  createIcqChain,
  ESCROW,
  type IcqChain,
  type PackedMessage,
} from "../../../../support/icq-chain.ts";
import {
  kvKey,
  register,
  registerTx,
  remove,
  submit,
  update,
  updateParams,
} from "../../../../support/icq-messages.ts";
import { list, readJson, record, text } from "../../../../support/recorded-client.ts";

/** A transaction, or the ends of some blocks. Actors 0 to 2 are contracts, 3 and 4 are accounts. */
type Step =
  | { readonly kind: "kv" | "tx"; readonly actor: number }
  | {
      readonly kind: "update" | "remove" | "kvResult" | "txResult";
      readonly actor: number;
      readonly id: bigint;
    }
  | { readonly kind: "params"; readonly deposit: number; readonly timeout: number; readonly limit: number }
  | { readonly kind: "blocks"; readonly count: number };

const actor = fc.integer({ min: 0, max: 4 });
const id = fc.bigInt({ min: 0n, max: 12n });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("kv", "tx"), actor }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom("update", "remove", "kvResult", "txResult"), actor, id }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("params"),
      deposit: fc.integer({ min: 0, max: 3 }),
      timeout: fc.integer({ min: 0, max: 20 }),
      limit: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("blocks"), count: fc.integer({ min: 1, max: 15 }) }),
  },
);
const steps = fc.array(anyStep, { minLength: 1, maxLength: 60, size: "max" });

const KV_ROOT = fromHex("dfe3e8d9f17d9a1327445d651a5ff29b3a34b932ffc91e3bec27f45fd168ac2b");
const KV_PROOF = [
  "0a130a01011201761a0b0801180120012a03000202",
  "0a330a0462616e6b1220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa990341a090801180120012a0100",
].map((op) => ({ type: "", key: new Uint8Array(0), data: fromHex(op) }));
const TX_RESULT = recordedTxResult();

interface Run {
  readonly chain: IcqChain;
  readonly ids: readonly bigint[];
  readonly removed: ReadonlySet<bigint>;
}

describe("invariants over random transactions of several owners", () => {
  it("are tested with sequences in which all kinds of transactions succeed", () => {
    const succeeded = new Set<string>();
    for (const sequence of fc.sample(steps, { numRuns: 40, seed: 1 }))
      run(sequence, (_chain, kind) => succeeded.add(kind));
    expect([...succeeded].filter((kind) => kind !== "").toSorted()).toEqual([
      "kv",
      "kvResult",
      "params",
      "remove",
      "tx",
      "txResult",
      "update",
    ]);
  });

  it("the escrow balance is the sum of the deposits of all registered queries", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        run(sequence, (chain) => {
          const deposits = [...queries.entries(chain.world.context())].flatMap(([, query]) => query.deposit);
          const sum = deposits.reduce((total, { amount }) => total + BigInt(amount), 0n);
          expect(chain.bank.balance(ESCROW)).toBe(sum);
        });
      }),
      { numRuns: 100 },
    );
  });

  it("ids only grow, also across export and import", () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const first = run(before);
        const second = run(after, undefined, first.chain.icq.exportGenesis(first.chain.world.context()));
        const ids = [...first.ids, ...second.ids];
        expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1)));
      }),
      { numRuns: 60 },
    );
  });

  it("a removed query leaves no entry behind after enough blocks", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const { chain, removed } = run([...sequence, { kind: "blocks", count: 40 }]);
        const keys = chain.world.dump("interchainqueries").map(([key]) => key);
        for (const removedId of removed)
          expect(keys.filter((key) => key.slice(2, 18) === toHex(uint64BigEndian(removedId)))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it("the same transactions lead to the same state, and an import of an export restores the store", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const [one, two] = [run(sequence), run(sequence)];
        const dump = one.chain.world.dump("interchainqueries");
        expect(two.chain.world.dump("interchainqueries")).toEqual(dump);
        const imported = createIcqChain({ ibc: createFakeIbc() });
        imported.icq.initGenesis(
          imported.world.context(),
          one.chain.icq.exportGenesis(one.chain.world.context()),
        );
        expect(imported.world.dump("interchainqueries")).toEqual(dump);
      }),
      { numRuns: 60 },
    );
  });
});

function run(
  sequence: readonly Step[],
  check?: (chain: IcqChain, succeeded: Step["kind"] | "") => void,
  genesis?: Parameters<IcqChain["icq"]["initGenesis"]>[1],
): Run {
  const ibc = createFakeIbc();
  const chain = createIcqChain({ ibc });
  const contracts = [1, 2, 3].map(() => addContract(chain, "icq-consumer", 10_000_000n));
  const actors = [...contracts, ALICE, BOB];
  if (genesis !== undefined) chain.icq.initGenesis(chain.world.context(), genesis);
  const ids: bigint[] = [];
  const removed = new Set<bigint>();
  let height = 10n;
  for (const [index, next] of sequence.entries()) {
    if (next.kind === "blocks") {
      for (let block = 0; block < next.count; block += 1) chain.icq.endBlock?.(chain.world.context());
      height += BigInt(next.count);
      continue;
    }
    ibc.roots.set(`1-${index + 1}`, KV_ROOT);
    const before = lastId.get(chain.world.context()) ?? 0n;
    const { code } = chain.deliver([messageOf(next, actors, index)], { height });
    const after = lastId.get(chain.world.context()) ?? 0n;
    if (after !== before) ids.push(after);
    if (code === 0 && next.kind === "remove") removed.add(next.id);
    check?.(chain, code === 0 ? next.kind : "");
  }
  return { chain, ids, removed };
}

function messageOf(
  step: Exclude<Step, { kind: "blocks" }>,
  actors: readonly string[],
  index: number,
): PackedMessage {
  if (step.kind === "params") {
    const queryDeposit = step.deposit === 0 ? [] : [{ denom: "untrn", amount: `${step.deposit * 1000}` }];
    const { timeout, limit } = step;
    const changed = { querySubmitTimeout: BigInt(timeout), txQueryRemovalLimit: BigInt(limit), queryDeposit };
    return updateParams(AUTHORITY, { ...defaultParams("untrn"), ...changed });
  }
  const sender = actors[step.actor] ?? ALICE;
  switch (step.kind) {
    case "kv":
      return register({ sender, keys: [kvKey("bank", "\u0001")] });
    case "tx":
      return registerTx({ sender });
    case "update":
      return update({ sender, queryId: step.id, newUpdatePeriod: BigInt(index + 1) });
    case "remove":
      return remove(step.id, sender);
    case "txResult":
      return submit(step.id, sender, TX_RESULT);
    case "kvResult":
      return submit(step.id, sender, kvResult(index));
  }
}

function kvResult(index: number): Partial<QueryResult> {
  const value = { storagePrefix: "bank", key: fromHex("01"), value: fromHex("76"), Proof: { ops: KV_PROOF } };
  return { kvResults: [value], height: BigInt(index), revision: 1n, allowKvCallbacks: index % 2 === 0 };
}

function recordedTxResult(): QueryResult {
  const recorded = list(readJson(fixtureFile("interchainqueries/tx-submit-cases.json"))).map(record);
  const good = recorded.find(({ name }) => name === "good (for another query id)");
  const { result } = MsgSubmitQueryResult.decode(fromBase64(text(list(good?.["messages_base64"])[0])));
  if (result === undefined) throw new Error("the recorded message has no result");
  return result;
}
