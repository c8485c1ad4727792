import type { LightBlock } from "./light-block.ts";
import { readFileSync } from "node:fs";
import { isRecord } from "../../../src/platform/base/json.ts";
import { parseSignedHeader, parseValidators } from "../../../src/cosmos/comet/rpc-json.ts";

/** A recorded light block, with its JSON. */
export interface RecordedBlock extends LightBlock {
  readonly json: { readonly signed_header: unknown; readonly validators: unknown };
}

/** A recorded chain, and pairs of heights with CometBFT's results. */
export interface RecordedChain {
  readonly blocks: ReadonlyMap<bigint, RecordedBlock>;
  readonly cases: readonly Readonly<Record<string, unknown>>[];
}

/** Reads `light-client/test-1.json` or `test-2.json`. */
export function readRecordedChain(name: "test-1" | "test-2"): RecordedChain {
  const url = new URL(`../../fixtures/light-client/${name}.json`, import.meta.url);
  const json: unknown = JSON.parse(readFileSync(url, "utf8"));
  if (!isRecord(json) || !Array.isArray(json["blocks"]) || !Array.isArray(json["cases"])) {
    throw new Error(`${name} is not a recorded chain`);
  }
  const blocks = json["blocks"].filter(isRecord).map((block): RecordedBlock => {
    const { signed_header, validators } = block;
    return {
      ...parseSignedHeader(signed_header),
      validatorSet: parseValidators(validators),
      json: { signed_header, validators },
    };
  });
  return {
    blocks: new Map(blocks.map((block) => [block.header.height, block])),
    cases: json["cases"].filter(isRecord),
  };
}

/** Returns a block of a recorded chain. Throws if it was not recorded. */
export function recordedBlock(chain: RecordedChain, height: bigint): RecordedBlock {
  const block = chain.blocks.get(height);
  if (block === undefined) throw new Error(`block ${height} was not recorded`);
  return block;
}
