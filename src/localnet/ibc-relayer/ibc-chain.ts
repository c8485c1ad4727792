import type { LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import type { TxSender } from "../../cosmos/client/tx/tx-types.ts";
import { revisionOfChainId } from "../../cosmos/comet/ibc-height.ts";
import type { LightClientQueries } from "../../cosmos/light-client/client-queries.ts";
import { type ChannelView, createIbcReads, type IbcReads } from "./ibc-reads.ts";
import { createPacketFinder, type PacketFinder } from "./packet-finder.ts";
import type { Moment } from "./work.ts";

/** One of the two chains between which the IBC relayer relays packets, with its RPC clients and its transaction sender. */
export interface IbcChain {
  readonly chainId: string;
  /** Id of the connection to the other chain. The IBC relayer serves only this connection's channels. */
  readonly connectionId: string;
  readonly client: Pick<PooledChainClient, "readStore" | "lightBlock" | "status">;
  /** Queries for the chain's light client, which tracks the other chain. */
  readonly queries: Pick<
    LightClientQueries,
    "clientOfConnection" | "clientState" | "consensusState" | "consensusHeights"
  >;
  readonly reads: IbcReads;
  readonly finder: PacketFinder;
  /** Sends transactions from the IBC relayer's account on this chain. */
  readonly sender: Omit<TxSender, "broadcast">;
}

export function createIbcChain(
  names: Pick<IbcChain, "chainId" | "connectionId">,
  parts: {
    readonly client: PooledChainClient;
    readonly queries: IbcChain["queries"];
    readonly sender: Omit<TxSender, "broadcast">;
  },
): IbcChain {
  const { client } = parts;
  return { ...names, ...parts, reads: createIbcReads(client), finder: createPacketFinder(client.comet) };
}

/** A chain's header and channels, read at the start of a relay cycle. */
export interface Snapshot {
  readonly chain: IbcChain;
  /** The newest header, which contains the state root of the previous height. */
  readonly block: LightBlockBytes;
  readonly moment: Moment;
  /** The connection's channels at the height whose state root the header contains. */
  readonly proven: readonly ChannelView[];
  /** The connection's channels in the latest state. */
  readonly latest: readonly ChannelView[];
}

/** The first height whose header can prove state. Nodes serve proofs only from height 2 on. */
const FIRST_PROVING_HEIGHT = 3n;

/**
 * Reads a chain's state. Resolves with undefined if the chain has too few blocks to prove any state. If there is no new block,
 * resolves with `previous`, because channels change only in blocks. Rejects with `ClientError`.
 */
export async function readSnapshot(
  chain: IbcChain,
  signal: AbortSignal,
  previous?: Snapshot,
): Promise<Snapshot | undefined> {
  const block = await chain.client.lightBlock(0n, signal);
  if (block.height < FIRST_PROVING_HEIGHT) return undefined;
  if (block.height === previous?.block.height && block.timeNs === previous.block.timeNs) return previous;
  const { reads, connectionId, chainId } = chain;
  const [proven, latest] = await Promise.all([
    reads.channels(connectionId, block.height - 1n, signal),
    reads.channels(connectionId, 0n, signal),
  ]);
  const moment = { revision: revisionOfChainId(chainId), height: block.height, timeNs: block.timeNs };
  return { chain, block, moment, proven, latest };
}
