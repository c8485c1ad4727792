import { toHex, utf8 } from "../base/bytes.ts";
import { sha256 } from "../base/sha256.ts";

/** The id that a node gives itself, in the form of a CometBFT node id (40 hex digits): there are no peers, so it has no key. */
export function nodeId(chainId: string, moniker: string): string {
  return toHex(sha256(utf8(`node ${chainId} ${moniker}`)).subarray(0, 20));
}

/** CometBFT release whose faces this node shows: clients choose what to expect by it. */
export const COMET_VERSION = "0.38.17";

/** Channels as CometBFT announces them, hex, one byte each. */
export const P2P_CHANNELS = "40202122233038606100";

/** P2P protocol version of that release. */
export const P2P_VERSION = 8n;
