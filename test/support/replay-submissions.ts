import { fromBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { ModuleError } from "../../src/localnet/chain/runtime/errors.ts";
import { asMempoolDecodeError } from "../../src/localnet/chain/runtime/tx.ts";
import { TYPE_URL } from "../../src/cosmos/proto/registry.ts";
import type { Outcome, PackedMessage } from "./icq-chain.ts";
import { list, record, text } from "./recorded-client.ts";
import type { Replayed } from "./replay.ts";
import { packMessage, type RecordedChain, setLastResult } from "./replay-chain.ts";

/** Replays a KV submission in proto JSON. Only the case of an older height has a query with a result. */
export function replaySubmission(chain: RecordedChain, recorded: JsonObject): Replayed {
  const name = text(recorded["name"]);
  const message = packMessage(record(recorded["message"]));
  if (name === "older height") setLastResult(chain, 317n, 1544n);
  const messages = name === "newer height, twice in one tx" ? [message, message] : [message];
  const outcome = chain.deliverRecorded(messages);
  return { ...outcome, remarks: gasRemarks(outcome, recorded, messages) };
}

/** Ante and post handlers of the deployed chain, and what a transaction has besides its message. */
const HANDLERS = 107_374;
/** A digit more or less in the fee's balances. */
const DIGITS = 40;
const GAS_OF_BYTE = 10;
/** Each further message has its type and lengths in front. */
const HEAD_BYTES = 58;

function gasRemarks(
  { gasUsed }: Outcome,
  recorded: JsonObject,
  messages: readonly PackedMessage[],
): readonly string[] {
  const bytes = messages.reduce((sum, { value }) => sum + value.length + HEAD_BYTES, -HEAD_BYTES);
  const beyond = Number(recorded["gas_used"]) - Number(gasUsed) - bytes * GAS_OF_BYTE - HANDLERS;
  return Math.abs(beyond) <= DIGITS ? [] : [`${beyond} gas less than recorded`];
}

/** Replays an encoded TX submission. Its writes stay: later cases depend on them. */
export function replayTxSubmission(chain: RecordedChain, recorded: JsonObject): Replayed {
  const messages = list(recorded["messages_base64"]).map((encoded) => ({
    typeUrl: TYPE_URL.submitQueryResult,
    value: fromBase64(text(encoded)),
  }));
  const error = decodingError(chain, messages);
  if (error !== undefined) {
    const { code, codespace, message: log } = error;
    return { code, codespace, log, remarks: [] };
  }
  const outcome = chain.deliverRecorded(messages);
  return { ...outcome, remarks: sudoRemarks(outcome, recorded) };
}

/** Returns the error of decoding the transaction, which happens before it runs. */
function decodingError(chain: RecordedChain, messages: readonly PackedMessage[]): ModuleError | undefined {
  const handler = chain.icq.messages.find(({ typeUrl }) => typeUrl === TYPE_URL.submitQueryResult);
  try {
    for (const { value } of messages) handler?.signers(value);
    return undefined;
  } catch (error) {
    if (error instanceof ModuleError) return asMempoolDecodeError(error);
    throw error;
  }
}

/** Compares the callbacks. The owner is the echo contract, which emits them as attributes. */
function sudoRemarks(outcome: Outcome, recorded: JsonObject): readonly string[] {
  const actual = outcome.events
    .flatMap(({ type, attributes }) => (type === "wasm" ? attributes : []))
    .filter(({ key }) => key === "sudo")
    .map(({ value }) => value);
  const expected = list(recorded["sudo"] ?? []).map(text);
  return actual.join("\n") === expected.join("\n")
    ? []
    : [`callbacks\n  ${actual.join("\n  ")}\ninstead of\n  ${expected.join("\n  ")}`];
}
