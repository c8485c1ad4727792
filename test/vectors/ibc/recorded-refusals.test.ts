import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { updateClient } from "../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";
import { readRecordedClient } from "../../support/ibc/recorded-client.ts";

/** Cases whose headers the light client rejects. */
const REJECTED = [
  "one bit of a signature in the next header flipped",
  "app hash in the header changed",
  "trusted height without consensus state",
  "no trusted validators",
] as const;

/** Prefix of the light client's error in a recorded log. */
const PREFIX = "failed to update client: ";

const url = new URL("../../fixtures/interchainqueries/tx-submit-cases.json", import.meta.url);
const json: unknown = JSON.parse(readFileSync(url, "utf8"));
const cases = Array.isArray(json) ? json.filter(isRecord) : [];
const client = readRecordedClient();

/** Time of the last recorded consensus state. At that time, none is older than the trusting period of two days. */
function lastTimeNs(): bigint {
  return [...client.states.values()].at(-1)?.timeNs ?? 0n;
}

/** Whether a result reaches the light client. Missing headers and headers of another type fail earlier. */
function hasHeaders({ name }: Readonly<Record<string, unknown>>): boolean {
  return name !== "no header" && name !== "no next header" && name !== "header of the wrong type";
}

/** Updates the client with both headers of a recorded TX result. Returns the text of the error, if any. */
function updateError(messageBase64: string): string | undefined {
  const block = MsgSubmitQueryResult.decode(fromBase64(messageBase64)).result?.block;
  const chain = createMemoryChain("test-1");
  const context = chain.at(2000n, lastTimeNs());
  client.install(context);
  try {
    updateClient(context, client.clientId, block?.header);
    updateClient(context, client.clientId, block?.nextBlockHeader);
    return undefined;
  } catch (error) {
    if (error instanceof ModuleError) return error.message;
    throw error;
  }
}

describe("headers of recorded TX results", () => {
  it("are complete", () => {
    expect(cases).toHaveLength(21);
    expect(cases.filter(({ name }) => REJECTED.some((rejected) => rejected === name))).toHaveLength(
      REJECTED.length,
    );
  });

  it.each(cases.filter(hasHeaders).map((one) => [String(one["name"]), one] as const))("%s", (name, one) => {
    const messages = one["messages_base64"];
    if (!Array.isArray(messages)) throw new Error("no messages");
    const text = updateError(String(messages[0]));
    if (!REJECTED.some((rejected) => rejected === name)) {
      expect(text).toBeUndefined();
      return;
    }
    const log = String(one["log"]).replaceAll(/ \[[^\]]*\.go:\d+\]/g, "");
    const recordedError = log.slice(log.indexOf(PREFIX) + PREFIX.length);
    expect(log).toContain(PREFIX);
    expect(recordedError.startsWith(`${text}: `)).toBe(true);
  });
});
