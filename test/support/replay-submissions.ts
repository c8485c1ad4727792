import { fromBase64 } from "../../src/base/bytes.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { ModuleError } from "../../src/chain/runtime/module-error.ts";
import { asMempoolDecodeError } from "../../src/chain/runtime/tx.ts";
import { TYPE_URL } from "../../src/proto/type-urls.ts";
import type { Outcome, PackedMessage } from "./icq-chain.ts";
import { list, record, text } from "./recorded-client.ts";
import type { Replayed } from "./replay.ts";
import { packMessage, type RecordedChain, setLastResult } from "./replay-chain.ts";

/** One KV submission in proto JSON. Its query has no result yet, but for the case that is about an older height. */
export function replaySubmission(chain: RecordedChain, recorded: JsonObject): Replayed {
  const name = text(recorded["name"]);
  const message = packMessage(record(recorded["message"]));
  if (name === "older height") setLastResult(chain, 317n, 1544n);
  const messages = name === "newer height, twice in one tx" ? [message, message] : [message];
  return { ...chain.deliverRecorded(messages), remarks: [] };
}

/** One TX submission, encoded; on success it stays, as later cases depend on it. */
export function replayTxSubmission(chain: RecordedChain, recorded: JsonObject): Replayed {
  const messages = list(recorded["messages_base64"]).map((encoded) => ({
    typeUrl: TYPE_URL.submitQueryResult,
    value: fromBase64(text(encoded)),
  }));
  const undecodable = decodingFault(chain, messages);
  if (undecodable !== undefined) {
    const { code, codespace, message: log } = undecodable;
    return { code, codespace, log, remarks: [] };
  }
  const outcome = chain.deliverRecorded(messages);
  return { ...outcome, remarks: sudoRemarks(outcome, recorded) };
}

/** What decoding the transaction says, before it is run. */
function decodingFault(chain: RecordedChain, messages: readonly PackedMessage[]): ModuleError | undefined {
  const handler = chain.icq.messages.find(({ typeUrl }) => typeUrl === TYPE_URL.submitQueryResult);
  try {
    for (const { value } of messages) handler?.signers(value);
    return undefined;
  } catch (error) {
    if (error instanceof ModuleError) return asMempoolDecodeError(error);
    throw error;
  }
}

/** The owner is the echo contract: its callbacks come back as attributes. */
function sudoRemarks(outcome: Outcome, recorded: JsonObject): readonly string[] {
  const got = outcome.events
    .flatMap(({ type, attributes }) => (type === "wasm" ? attributes : []))
    .filter(({ key }) => key === "sudo")
    .map(({ value }) => value);
  const wanted = list(recorded["sudo"] ?? []).map(text);
  return got.join("\n") === wanted.join("\n")
    ? []
    : [`callbacks\n  ${got.join("\n  ")}\ninstead of\n  ${wanted.join("\n  ")}`];
}
