import type { JsonObject, JsonValue } from "../../src/platform/base/json.ts";
import { replayRegistration } from "./replay-registrations.ts";
import { createRecordedChain, type RecordedChain } from "./replay-chain.ts";
import { replaySubmission, replayTxSubmission } from "./replay-submissions.ts";
import { list, readJson, record, text } from "./recorded-client.ts";

/** Result of a recorded case on our chain. */
export interface Replayed {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** Other differences, such as events. Empty when there are none. */
  readonly remarks: readonly string[];
}

/** Comparison of our chain with one recorded case. */
export interface Comparison {
  readonly name: string;
  /** Descriptions of the differences; empty when there are none. */
  readonly differences: readonly string[];
  /** Reason of an intended difference from the recording. `differences` then compares with the intended result. */
  readonly exception: string | undefined;
}

interface Exception {
  readonly reason: string;
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
}

/** Cases with an intended difference from the recording, with the intended result. */
const EXCEPTIONS: ReadonlyMap<string, Exception> = new Map([
  [
    "no response",
    {
      reason: "the recorded chain panics on a missing response; our chain fails with an error",
      code: 1111,
      codespace: "interchainqueries",
      log: "failed to verify delivery proof: response is missing: invalid type",
    },
  ],
]);

/** Replays a file of recorded registrations, KV submissions or TX submissions in order. Throws on any other file. */
export function replayFile(path: URL | string): readonly Comparison[] {
  const cases = list(readJson(path)).map(record);
  const shared = createRecordedChain();
  return cases.map((recorded) => compare(recorded, replayCase(recorded, shared)));
}

/** TX submissions depend on earlier ones and share a chain. Every other case has a chain of its own. */
function replayCase(recorded: JsonObject, shared: RecordedChain): Replayed {
  if (recorded["messages_base64"] !== undefined) return replayTxSubmission(shared, recorded);
  if (recorded["message"] !== undefined) return replaySubmission(createRecordedChain(), recorded);
  return replayRegistration(createRecordedChain(), recorded);
}

function compare(recorded: JsonObject, replayed: Replayed): Comparison {
  const name = text(recorded["name"]);
  const exception = EXCEPTIONS.get(name);
  const expected = exception ?? {
    code: Number(recorded["code"]),
    codespace: text(recorded["codespace"]),
    log: withoutSources(recorded["raw_log"] ?? recorded["log"]),
  };
  const sameLog =
    exception === undefined ? replayed.log === expected.log : replayed.log.includes(expected.log);
  return {
    name,
    exception: exception?.reason,
    differences: [
      ...(replayed.code === expected.code ? [] : [`code ${replayed.code} instead of ${expected.code}`]),
      ...(replayed.codespace === expected.codespace
        ? []
        : [`codespace "${replayed.codespace}" instead of "${expected.codespace}"`]),
      ...(sameLog ? [] : [`text\n  ${replayed.log}\ninstead of\n  ${expected.log}`]),
      ...replayed.remarks,
    ],
  };
}

/** Removes the positions in Go source that recorded texts contain after a wrapped error: " [/src/x/keeper.go:102]". */
function withoutSources(log: JsonValue | undefined): string {
  return typeof log === "string" ? log.replace(/ \[[^\]\s]*\.go:\d+\]/g, "") : "";
}
