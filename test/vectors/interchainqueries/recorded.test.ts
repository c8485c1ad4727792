import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { lastId, queries, setQuery } from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { ALICE } from "../../support/icq-chain.ts";
import { submit } from "../../support/icq-messages.ts";
import { list, readJson, record, recordedIbcGenesis, text } from "../../support/recorded-client.ts";
import { type Comparison, replayFile } from "../../support/replay.ts";
import {
  createRecordedChain,
  packMessage,
  RECORDED_CONTRACTS,
  recordedQueries,
} from "../../support/replay-chain.ts";

// Recorded from a real chain; see test/fixtures/interchainqueries.
const FILES = [
  { file: "submit-cases.json", cases: 18, exceptions: [] },
  { file: "tx-submit-cases.json", cases: 21, exceptions: ["no response"] },
  { file: "register-cases.json", cases: 20, exceptions: [] },
] as const;

describe("recorded submissions and registrations", () => {
  it("have the complete recorded client and queries", () => {
    expect(recordedIbcGenesis().consensusStates).toBe(490);
    expect(recordedQueries()).toHaveLength(5);
  });

  for (const { file, cases, exceptions } of FILES) {
    const compared = replayFile(fixtureFile(`interchainqueries/${file}`));

    it(`have all cases of ${file} and only the known exceptions`, () => {
      expect(compared).toHaveLength(cases);
      expect(compared.filter(isException).map(({ name }) => name)).toEqual(exceptions);
    });

    it.each(compared.map((comparison) => [comparison.name, comparison] as const))(
      `${file}: %s`,
      (_name, { differences }) => {
        expect(differences).toEqual([]);
      },
    );
  }
});

describe("a recorded transaction that removes a query and registers another", () => {
  it("emits the removal, then the registration", () => {
    const recorded = record(readJson(fixtureFile("interchainqueries/remove-register-one-tx.json")));
    const events = list(record(recorded["tx_response"])["events"]).map(record);
    const expected = events.filter(({ type }) => type === "neutron").map(actionOf);
    const message = record(list(record(record(recorded["tx"])["body"])["messages"])[0]);
    const chain = createRecordedChain();
    const context = chain.world.context();
    for (const query of recordedQueries()) queries.delete(context, query.id);
    for (const query of recordedQueries().slice(0, 1))
      setQuery(context, { ...query, id: 7n, owner: RECORDED_CONTRACTS.mirror });
    lastId.set(context, BigInt(expected[1]?.split(" ")[1] ?? 0) - 1n);
    const outcome = chain.deliverRecorded([packMessage(message)]);
    expect(outcome.log).toBe("");
    const actual = outcome.events.filter(({ type }) => type === "neutron");
    expect(
      actual.map((event) =>
        actionOf({ attributes: event.attributes.map((attribute) => ({ ...attribute })) }),
      ),
    ).toEqual(expected);
    expect(expected).toEqual([
      "query_removed 7 connection-0",
      expect.stringMatching(/^query_updated \d+ connection-0$/),
    ]);
  });
});

describe("heights at the end of uint64", () => {
  it.each([
    [2n ** 64n - 1n, 2n],
    [2n ** 64n - 1n, 2n ** 64n - 1n],
  ])("have no consensus state: %s of revision %s", (height, revision) => {
    const value = { storagePrefix: "bank", key: utf8("\u0000untrn"), value: utf8("1"), Proof: { ops: [] } };
    const kvResults = [value, value, value];
    const outcome = createRecordedChain().deliverRecorded([
      submit(317n, ALICE, { kvResults, height, revision }),
    ]);
    expect([outcome.codespace, outcome.code]).toEqual(["client", 7]);
  });
});

/** Prints the attributes that our events and the recorded events have in common. */
function actionOf(event: JsonObject): string {
  const values = new Map(
    list(event["attributes"]).map((entry) => [record(entry)["key"], record(entry)["value"]] as const),
  );
  return `${text(values.get("action"))} ${text(values.get("query_id"))} ${text(values.get("connection_id"))}`;
}

function isException({ exception }: Comparison): boolean {
  return exception !== undefined;
}
