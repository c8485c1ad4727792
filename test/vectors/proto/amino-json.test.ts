import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../src/platform/base/bytes.ts";
import { anyToAminoJson, stringifyAminoJson } from "../../../src/cosmos/proto/amino-json.ts";
import { ProtoError } from "../../../src/cosmos/proto/registry.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

// SOURCE: the Amino JSON encoder of the SDK (cosmossdk.io/x/tx v0.13.7, signing/aminojson) over the .proto files of SDK
// 0.50.12, ibc-go 8.7.0, wasmd 0.54.0 and the chain's modules 6.0.3 (dex too), for messages by hand and for arbitrary ones.

interface RecordedCase {
  readonly name: string;
  /** Full name of the message. */
  readonly type: string;
  readonly hex: string;
  /** What is signed. Absent when the encoder has an error. */
  readonly json?: string;
  readonly error?: string;
}

const CASES: readonly RecordedCase[] = JSON.parse(readFileSync(fixtureFile("amino-json.json"), "utf8"));

function sign({ type, hex }: RecordedCase): string {
  return stringifyAminoJson(anyToAminoJson({ typeUrl: `/${type}`, value: fromHex(hex) }));
}

describe("amino JSON", () => {
  it("has cases of every kind", () => {
    expect(CASES.filter(({ json }) => json !== undefined).length).toBeGreaterThan(80);
    expect(CASES.filter(({ error }) => error !== undefined).length).toBeGreaterThan(5);
    expect(new Set(CASES.map(({ type }) => type)).size).toBeGreaterThan(15);
  });

  it.each(CASES.map((each) => [each.type, each.name, each] as const))(
    "of %s, %s, is the SDK's",
    (_type, _name, recorded) => {
      if (recorded.json !== undefined) expect(sign(recorded)).toBe(recorded.json);
      else expect(() => sign(recorded)).toThrow(ProtoError);
    },
  );
});
