// SOURCE: test/fixtures/ante.json, recorded from a real node: what CheckTx said to broken transactions.
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/base/bytes.ts";
import { errorText } from "../../../src/base/errors.ts";
import { isRecord } from "../../../src/base/json.ts";
import { rejectUnknownFields } from "../../../src/proto/unknown-fields.ts";
import { readFixtureList, textOf } from "../../support/proto/fixture.ts";

describe("recorded transactions that do not decode", () => {
  it("are refused with the text of the node, all others pass", () => {
    const cases = readFixtureList("ante.json");
    let refused = 0;
    for (const each of cases) {
      const recorded = decodeError(each["check_tx"]);
      expect(refusal(fromBase64(textOf(each, "tx_base64"))), textOf(each, "name")).toBe(recorded);
      if (recorded !== undefined) refused += 1;
    }
    expect([refused, cases.length]).toEqual([3, 32]);
  });
});

/** What stands between "failed to decode tx: " and ": tx parse error" in the log. */
function decodeError(checkTx: unknown): string | undefined {
  const log = isRecord(checkTx) ? checkTx["log"] : undefined;
  return typeof log === "string" ? /^failed to decode tx: (.*): tx parse error/.exec(log)?.[1] : undefined;
}

function refusal(bytes: Uint8Array): string | undefined {
  try {
    rejectUnknownFields("cosmos.tx.v1beta1.Tx", bytes, { allowNonCritical: true });
    return undefined;
  } catch (thrown) {
    return errorText(thrown).replace(/: illegal tag.*|: premature EOF.*|: invalid varint.*/, "");
  }
}
