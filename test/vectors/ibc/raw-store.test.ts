import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toHex } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { parseSignedHeader } from "../../../src/cosmos/comet/rpc-json.ts";
import { initGenesis } from "../../../src/localnet/chain/modules/ibc/module.ts";
import { openConnectionGenesis } from "../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";

const SECOND = 1_000_000_000n;

/** How the recording's relayer created the client of `test-1` on `test-2`. */
const SETTINGS = {
  trustingPeriodNs: 172_800n * SECOND,
  unbondingPeriodNs: 1_814_400n * SECOND,
  maxClockDriftNs: 600n * SECOND,
};

/** Latest height of the recorded client. */
const LATEST = 54n;

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8"));
}

function recordedEntries(): readonly { readonly key: string; readonly value: string }[] {
  const cases = readJson("proofs/kv.json");
  if (!Array.isArray(cases)) throw new Error("not a list of proofs");
  return cases
    .filter(isRecord)
    .filter(({ store }) => store === "ibc")
    .map((recorded) => {
      const response = recorded["abci_query_response"];
      if (!isRecord(response)) throw new Error("no response");
      return {
        key: Buffer.from(fromHex(String(recorded["key"]))).toString(),
        value: toHex(fromBase64(String(response["value"]))),
      };
    });
}

function firstHeader(): unknown {
  const json = readJson("light-client/test-1.json");
  const block: unknown = isRecord(json) && Array.isArray(json["blocks"]) ? json["blocks"][0] : undefined;
  return isRecord(block) ? block["signed_header"] : undefined;
}

describe("raw entries of the IBC store of a real chain", () => {
  const entries = recordedEntries();
  const signed = parseSignedHeader(firstHeader());
  const remote = { ...signed, header: { ...signed.header, height: LATEST } };
  const chain = createMemoryChain("test-2");
  const options = { remote, settings: SETTINGS, ownChainId: "test-2", ownTimeNs: signed.header.timeNs };
  initGenesis(chain.at(1n, signed.header.timeNs), openConnectionGenesis(options));

  it("are complete", () => {
    expect(entries.map(({ key }) => key)).toEqual([
      "clients/07-tendermint-0/clientState",
      "connections/connection-0",
      "clients/07-tendermint-0/clientState",
      "connections/connection-0",
    ]);
  });

  it.each(entries)("$key has the recorded bytes", ({ key, value }) => {
    expect(toHex(chain.store.get(Buffer.from(key)) ?? new Uint8Array(0))).toBe(value);
  });
});
