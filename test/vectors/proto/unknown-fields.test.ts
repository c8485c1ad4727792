// SOURCE: test/fixtures/ante.json, recorded from a real node: the CheckTx responses to invalid transactions.
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { errorText } from "../../../src/platform/base/errors.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { rejectUnknownFields } from "../../../src/cosmos/proto/unknown-fields.ts";
import { readFixtureList, textOf } from "../../support/proto/fixture.ts";

describe("recorded transactions that do not decode", () => {
  it("are rejected with the text of the node, all others are accepted", () => {
    const cases = readFixtureList("ante.json");
    let rejected = 0;
    for (const each of cases) {
      const recorded = decodeError(each["check_tx"]);
      expect(rejection(fromBase64(textOf(each, "tx_base64"))), textOf(each, "name")).toBe(recorded);
      if (recorded !== undefined) rejected += 1;
    }
    expect([rejected, cases.length]).toEqual([3, 32]);
  });
});

/** Returns the part of the log between "failed to decode tx: " and ": tx parse error". */
function decodeError(checkTx: unknown): string | undefined {
  const log = isRecord(checkTx) ? checkTx["log"] : undefined;
  return typeof log === "string" ? /^failed to decode tx: (.*): tx parse error/.exec(log)?.[1] : undefined;
}

function rejection(bytes: Uint8Array): string | undefined {
  try {
    rejectUnknownFields("cosmos.tx.v1beta1.Tx", bytes, { allowNonCritical: true });
    return undefined;
  } catch (thrown) {
    return errorText(thrown).replace(/: illegal tag.*|: premature EOF.*|: invalid varint.*/, "");
  }
}
