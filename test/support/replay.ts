import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { replayRegistration } from "./replay-registrations.ts";
import { createRecordedChain, type RecordedChain } from "./replay-chain.ts";
import { replaySubmission, replayTxSubmission } from "./replay-submissions.ts";
import { list, readJson, record, text } from "./recorded-client.ts";

/** What our chain gave for a recorded case. */
export interface Replayed {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** Further findings, each a sentence; empty when all is as recorded. */
  readonly remarks: readonly string[];
}

/** A recorded case beside what our chain gave. */
export interface Comparison {
  readonly name: string;
  /** What differs, each a sentence; empty when nothing does. */
  readonly differences: readonly string[];
  /** Why a difference from the recording is right; the differences are then measured against what we want instead. */
  readonly exception: string | undefined;
}

interface Exception {
  readonly reason: string;
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
}

/** Cases in which our chain does something else than the recorded one, and what. */
const EXCEPTIONS: ReadonlyMap<string, Exception> = new Map([
  [
    "no response",
    {
      reason: "the recorded chain panics on a missing response; ours refuses it",
      code: 1111,
      codespace: "interchainqueries",
      log: "failed to verify delivery proof: response is missing: invalid type",
    },
  ],
]);

/** Replays a file of recorded registrations, KV submissions or TX submissions, case by case in order. Throws on any other file. */
export function replayFile(path: URL | string): readonly Comparison[] {
  const cases = list(readJson(path)).map(record);
  const shared = createRecordedChain();
  return cases.map((recorded) => compare(recorded, replayCase(recorded, shared)));
}

/** TX submissions depend on those before them and share a chain; the others stand alone. */
function replayCase(recorded: JsonObject, shared: RecordedChain): Replayed {
  if (recorded["messages_base64"] !== undefined) return replayTxSubmission(shared, recorded);
  if (recorded["message"] !== undefined) return replaySubmission(createRecordedChain(), recorded);
  return replayRegistration(createRecordedChain(), recorded);
}

function compare(recorded: JsonObject, replayed: Replayed): Comparison {
  const name = text(recorded["name"]);
  const exception = EXCEPTIONS.get(name);
  const wanted = exception ?? {
    code: Number(recorded["code"]),
    codespace: text(recorded["codespace"]),
    log: withoutSources(recorded["raw_log"] ?? recorded["log"]),
  };
  const sameLog = exception === undefined ? replayed.log === wanted.log : replayed.log.includes(wanted.log);
  return {
    name,
    exception: exception?.reason,
    differences: [
      ...(replayed.code === wanted.code ? [] : [`code ${replayed.code} instead of ${wanted.code}`]),
      ...(replayed.codespace === wanted.codespace
        ? []
        : [`codespace "${replayed.codespace}" instead of "${wanted.codespace}"`]),
      ...(sameLog ? [] : [`text\n  ${replayed.log}\ninstead of\n  ${wanted.log}`]),
      ...replayed.remarks,
    ],
  };
}

/** Recorded texts hold the places in Go source where an error was wrapped: " [/src/x/keeper.go:102]". */
function withoutSources(log: JsonValue | undefined): string {
  return typeof log === "string" ? log.replace(/ \[[^\]\s]*\.go:\d+\]/g, "") : "";
}
