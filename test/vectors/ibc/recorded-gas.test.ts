import { describe, expect, it } from "vitest";
import { measureRecordedTxs } from "../../support/ibc/recorded-gas.ts";

// SOURCE: test/fixtures/ibc/handshake-and-packets.json.

describe("gas of the messages of IBC", () => {
  const measured = measureRecordedTxs().filter(({ beyond }) => beyond !== undefined);

  it("is compared for the transactions that succeeded", () => {
    expect(measured.length).toBeGreaterThanOrEqual(90);
  });

  it.each(measured.map(({ tx, beyond }) => [tx.seq, tx.name, beyond] as const))(
    "%d %s is that of the deployed chain",
    (_seq, _name, beyond) => {
      expect(beyond).toBe(0);
    },
  );
});
