// SOURCE: test/fixtures/txs.json and interchainqueries/tx-submit-cases.json, recorded from real nodes.
import { describe, expect, it } from "vitest";
import { fromBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { AuthInfo, Tx, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Any } from "../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { findMessageByTypeUrl } from "../../../src/cosmos/proto/registry.ts";
import { descriptorCodec, generatedFiles, ownCodec } from "../../support/proto/codecs.ts";
import { readFixtureList, textOf } from "../../support/proto/fixture.ts";

describe("recorded transactions", () => {
  const recorded = readFixtureList("txs.json").map((tx) => fromBase64(textOf(tx, "tx_base64")));

  it("decode and encode to the same bytes, as Tx, TxRaw, TxBody and AuthInfo", () => {
    for (const bytes of recorded) {
      expect(toHex(Tx.encode(Tx.decode(bytes)).finish())).toBe(toHex(bytes));
      const raw = TxRaw.decode(bytes);
      expect(toHex(TxRaw.encode(raw).finish())).toBe(toHex(bytes));
      expect(toHex(TxBody.encode(TxBody.decode(raw.bodyBytes)).finish())).toBe(toHex(raw.bodyBytes));
      expect(toHex(AuthInfo.encode(AuthInfo.decode(raw.authInfoBytes)).finish())).toBe(
        toHex(raw.authInfoBytes),
      );
    }
    expect(recorded.length).toBe(41);
  });

  it("hold messages that decode and encode to the same bytes", async () => {
    const countByType = new Map<string, number>();
    for (const bytes of recorded) {
      for (const any of Tx.decode(bytes).body?.messages ?? []) {
        expect(toHex(await roundTrip(any)), any.typeUrl).toBe(toHex(any.value));
        countByType.set(any.typeUrl, (countByType.get(any.typeUrl) ?? 0) + 1);
      }
    }
    expect([...countByType.values()].reduce((sum, count) => sum + count, 0)).toBe(57);
    expect(countByType.size).toBe(15);
  });
});

/** Decodes and encodes with the generated codec of the message, or by its descriptor when it has no generated codec. */
async function roundTrip(any: Any): Promise<Uint8Array> {
  const desc = findMessageByTypeUrl(any.typeUrl);
  if (desc === undefined) throw new Error(`no message for ${any.typeUrl}`);
  const codec = generatedFiles().has(desc.file.name) ? await ownCodec(desc) : undefined;
  return (codec ?? descriptorCodec(desc)).roundTrip(any.value);
}
