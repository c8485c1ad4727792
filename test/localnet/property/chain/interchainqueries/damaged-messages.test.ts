import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../../../src/platform/base/bytes.ts";
import { TYPE_URL } from "../../../../../src/cosmos/proto/registry.ts";
import { fixtureFile } from "../../../../support/fixture-file.ts";
import type { PackedMessage } from "../../../../support/icq-chain.ts";
import { list, readJson, record, text } from "../../../../support/recorded-client.ts";
import { createRecordedChain, packMessage } from "../../../../support/replay-chain.ts";

const KV = packMessage(record(caseOf("submit-cases.json", "wrong value")["message"]));
const TX: PackedMessage = {
  typeUrl: TYPE_URL.submitQueryResult,
  value: fromBase64(
    text(list(caseOf("tx-submit-cases.json", "good (for another query id)")["messages_base64"])[0]),
  ),
};

/** Positions and values of bytes to overwrite, and the number of bytes to cut off at the end. */
const damage = fc.record({
  bytes: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
  cut: fc.oneof(fc.constant(0), fc.nat({ max: 6000 })),
});

describe("damaged submissions", () => {
  // `deliverRecorded` rethrows any error but `ModuleError`. Such an error would stop the machine, and fails the
  // property.
  it.each([
    ["KV", KV],
    ["TX", TX],
  ])("of %s results succeed or fail with a code", (_name, message) => {
    const chain = createRecordedChain();
    let failed = 0;
    fc.assert(
      fc.property(damage, ({ bytes, cut }) => {
        const value = message.value.slice(0, Math.max(0, message.value.length - cut));
        for (const [at, byte] of bytes) if (value.length > 0) value[at % value.length] = byte;
        const { code } = chain.deliverRecorded([{ ...message, value }]);
        if (code !== 0) failed += 1;
      }),
      { numRuns: 500 },
    );
    expect(failed).toBeGreaterThan(200);
  });
});

function caseOf(file: string, name: string): ReturnType<typeof record> {
  const found = list(readJson(fixtureFile(`interchainqueries/${file}`)))
    .map(record)
    .find((recorded) => recorded["name"] === name);
  if (found === undefined) throw new Error(`${file} has no case ${name}`);
  return found;
}
