import type { ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import { messageEvents, type RecordedTx, type ReplayedTx } from "./recorded-packets.ts";

/** What is compared of a transaction. */
interface ComparedParts {
  readonly codespace: string | undefined;
  readonly code: number | undefined;
  readonly log: string | undefined;
  readonly events: readonly string[];
  /** Base64; undefined where it is not compared. */
  readonly data: string | undefined;
}

/** Returns what a transaction must lead to on a chain of a profile: the recorded result with the intended differences. */
export function expectedParts(tx: RecordedTx, profile: ProfileName = "specification"): ComparedParts {
  const different = differentTxs(profile).get(tx.seq);
  const { codespace, code, raw_log: log, events, data } = different?.(tx) ?? tx;
  return comparedParts(tx, { codespace, code, log, data, events: code === 0 ? events : [] });
}

/** Returns the parts of our result that are compared with {@link expectedParts}. */
export function comparedParts(tx: RecordedTx, ours: ReplayedTx | undefined): ComparedParts {
  const ignored = ignoredMessages(tx.seq);
  const events = messageEvents(ours?.events ?? []);
  return {
    codespace: ours?.codespace,
    code: ours?.code,
    log: ours?.log,
    events: events.filter((event) => !ignored.some((end) => event.endsWith(end))),
    // The numbers of proposals depend on those before the recording.
    data: isProposal(tx) || tx.code !== 0 ? undefined : ours?.data,
  };
}

/** The printed validator set that Go puts into this text. */
const PRINTED_SET = /trusted validators validators:.* , does not hash/s;

/** Recorded transactions with another intended result, which is the recorded one after this change. */
export function differentTxs(profile: ProfileName): ReadonlyMap<number, (tx: RecordedTx) => RecordedTx> {
  return profile === "deployed" ? ON_EVERY_CHAIN : ON_SPECIFICATION;
}

const ON_EVERY_CHAIN: ReadonlyMap<number, (tx: RecordedTx) => RecordedTx> = new Map([
  // The memo of one packet is for the module of packet forwarding, which this chain does not have.
  [168, (tx) => tx],
  [178, withoutPrintedSet],
  [179, withoutPrintedSet],
]);

const ON_SPECIFICATION: ReadonlyMap<number, (tx: RecordedTx) => RecordedTx> = new Map([
  ...ON_EVERY_CHAIN,
  // The timeout of the packet object is 0 when it is not set. In the recording it is left out.
  [196, withZeroTimeout],
  [199, withZeroTimeout],
]);

/** The message of transaction 168 whose packet has a memo for another module. */
function ignoredMessages(seq: number): readonly string[] {
  return seq === 168 ? ["msg_index=4"] : [];
}

function withoutPrintedSet(tx: RecordedTx): RecordedTx {
  return { ...tx, raw_log: tx.raw_log.replace(PRINTED_SET, "trusted validators, does not hash") };
}

function withZeroTimeout(tx: RecordedTx): RecordedTx {
  const events = tx.events.map(({ type, attributes }) => ({
    type,
    attributes: attributes.map(({ key, value }) => ({
      key,
      value: value.replace(/("timeout_height":\{[^}]*\})\}\}\}$/, '$1,"timeout_timestamp":0}}}'),
    })),
  }));
  return { ...tx, events };
}

function isProposal({ messages }: RecordedTx): boolean {
  return messages[0]?.["@type"] === "/cosmos.adminmodule.adminmodule.MsgSubmitProposal";
}
