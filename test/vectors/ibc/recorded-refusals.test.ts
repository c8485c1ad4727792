import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/base/bytes.ts";
import { isRecord } from "../../../src/base/json.ts";
import { ModuleError } from "../../../src/chain/runtime/module-error.ts";
import { updateClient } from "../../../src/chain/modules/ibc/client/update-client.ts";
import { MsgSubmitQueryResult } from "../../../src/proto/gen/neutron/interchainqueries/tx.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";
import { readRecordedClient } from "../../support/ibc/recorded-client.ts";

/** Cases whose headers the light client refuses, and the start of what the recorded log says after its own words. */
const REFUSED = [
  "one bit of a signature in the next header flipped",
  "app hash in the header changed",
  "trusted height without consensus state",
  "no trusted validators",
] as const;

const WORDS = "failed to update client: ";

const url = new URL("../../fixtures/interchainqueries/tx-submit-cases.json", import.meta.url);
const json: unknown = JSON.parse(readFileSync(url, "utf8"));
const cases = Array.isArray(json) ? json.filter(isRecord) : [];
const client = readRecordedClient();

/** Time of the last state that the recorded client held: all are younger than its trusting period of two days. */
function lastTimeNs(): bigint {
  return [...client.states.values()].at(-1)?.timeNs ?? 0n;
}

/** Results without one of their headers are refused before the light client sees them, as are headers of a wrong type. */
function hasHeaders({ name }: Readonly<Record<string, unknown>>): boolean {
  return name !== "no header" && name !== "no next header" && name !== "header of the wrong type";
}

/** Runs the two header updates of a recorded TX result; gives the text of what is refused. */
function refusal(messageBase64: string): string | undefined {
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
  it("are all there", () => {
    expect(cases).toHaveLength(21);
    expect(cases.filter(({ name }) => REFUSED.some((one) => one === name))).toHaveLength(REFUSED.length);
  });

  it.each(cases.filter(hasHeaders).map((one) => [String(one["name"]), one] as const))("%s", (name, one) => {
    const messages = one["messages_base64"];
    if (!Array.isArray(messages)) throw new Error("no messages");
    const text = refusal(String(messages[0]));
    if (!REFUSED.some((refused) => refused === name)) {
      expect(text).toBeUndefined();
      return;
    }
    const log = String(one["log"]).replaceAll(/ \[[^\]]*\.go:\d+\]/g, "");
    const said = log.slice(log.indexOf(WORDS) + WORDS.length);
    expect(log).toContain(WORDS);
    expect(said.startsWith(`${text}: `)).toBe(true);
  });
});
