import { sha256, toHex, utf8 } from "../../../platform/base/bytes.ts";

/**
 * Returns an id in the format of a CometBFT node id (40 hex digits). The id is a hash of the names, because a node without peers
 * does not need a key for it.
 */
export function nodeId(chainId: string, moniker: string): string {
  return toHex(sha256(utf8(`node ${chainId} ${moniker}`)).subarray(0, 20));
}

/** CometBFT release whose RPC this node implements. Clients use it to choose their protocol version. */
export const COMET_VERSION = "0.38.17";

/** P2P channel ids that CometBFT announces: one byte each, in hex. */
export const P2P_CHANNELS = "40202122233038606100";

/** P2P protocol version that {@link COMET_VERSION} uses. */
export const P2P_VERSION = 8n;
