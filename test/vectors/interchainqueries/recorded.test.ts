import { describe, expect, it } from "vitest";
import { fixtureFile } from "../../support/fixture-file.ts";
import { recordedIbcGenesis } from "../../support/recorded-client.ts";
import { type Comparison, replayFile } from "../../support/replay.ts";
import { recordedQueries } from "../../support/replay-chain.ts";

// Recorded from a real chain; see test/fixtures/interchainqueries.
const FILES = [
  { file: "submit-cases.json", cases: 18, exceptions: [] },
  { file: "tx-submit-cases.json", cases: 21, exceptions: ["no response"] },
  { file: "register-cases.json", cases: 20, exceptions: [] },
] as const;

describe("recorded submissions and registrations", () => {
  it("rebuilds the recorded client and queries", () => {
    expect(recordedIbcGenesis().consensusStates).toBe(490);
    expect(recordedQueries()).toHaveLength(5);
  });

  for (const { file, cases, exceptions } of FILES) {
    const compared = replayFile(fixtureFile(`interchainqueries/${file}`));

    it(`has all cases of ${file} and only the known exceptions`, () => {
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

function isException({ exception }: Comparison): boolean {
  return exception !== undefined;
}
