import { fromBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { parseRfc3339Ns } from "../../../src/platform/base/time.ts";
import {
  latestHeightOf,
  unpackClientState,
  unpackConsensusState,
} from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import {
  consensusStateOfHeader,
  heightOfHeader,
  unpackClientMessage,
} from "../../../src/localnet/chain/modules/ibc/client/client-message.ts";
import { TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Any } from "../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { MsgCreateClient, MsgUpdateClient } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";
import { type RecordedChainId, RECORDED_TXS } from "./recorded-packets.ts";

/** What the recorded messages say about the headers of one chain. */
export interface RecordedHeaders {
  /** The first known height. */
  readonly first: bigint;
  /** Returns the time of a block: the recorded one, or one between those of the neighbouring heights. */
  readonly timeOf: (height: bigint) => bigint;
  /** Finds the height of the header with a root, in hex. */
  readonly heightOf: (root: string) => bigint | undefined;
}

interface KnownHeader {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly root: Uint8Array;
}

/** Returns the messages of a recorded transaction. */
function messagesOf(txBase64: string): readonly Any[] {
  return TxBody.decode(TxRaw.decode(fromBase64(txBase64)).bodyBytes).messages;
}

/** A client of a chain is on the other chain: the header in a message is that of the other one. */
function headersIn({ typeUrl, value }: Any): readonly KnownHeader[] {
  if (typeUrl === TYPE_URL.createClient) {
    const { clientState, consensusState } = MsgCreateClient.decode(value);
    const client = unpackClientState(clientState);
    if (client.type !== "07-tendermint") return [];
    const { chainId } = client.state;
    return [
      { chainId, height: latestHeightOf(client).revisionHeight, ...unpackConsensusState(consensusState) },
    ];
  }
  if (typeUrl !== TYPE_URL.updateClient) return [];
  const message = unpackClientMessage(MsgUpdateClient.decode(value).clientMessage);
  if (message.kind !== "header") return [];
  const { revisionHeight: height } = heightOfHeader(message.header);
  const chainId = message.header.signedHeader?.header?.chainId ?? "";
  return [{ chainId, height, ...consensusStateOfHeader(message.header) }];
}

/** Reads times and roots of a chain's headers from the messages of the other chain and from its own blocks. */
export function readRecordedHeaders(chainId: RecordedChainId): RecordedHeaders {
  const known = RECORDED_TXS.flatMap((tx) => messagesOf(tx.tx_base64)).flatMap(headersIn);
  const own = known.filter((header) => header.chainId === chainId);
  const times = new Map(own.map(({ height, timeNs }) => [height, timeNs]));
  for (const { chain_id, height, time } of RECORDED_TXS)
    if (chain_id === chainId && height !== null && time !== null)
      times.set(BigInt(height), parseRfc3339Ns(time));
  const heights = [...times.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  const roots = new Map(own.map(({ root, height }) => [toHex(root), height]));
  return {
    first: heights[0] ?? 0n,
    timeOf: (height) => times.get(height) ?? timeBetween(times, heights, height),
    heightOf: (root) => roots.get(root),
  };
}

const SECOND = 1_000_000_000n;

function timeBetween(times: ReadonlyMap<bigint, bigint>, heights: readonly bigint[], height: bigint): bigint {
  const next = heights.findIndex((known) => known > height);
  const [before = 0n, after = 0n] = [heights.at(next - 1), heights[next]];
  const [start = 0n, end = 0n] = [times.get(before), times.get(after)];
  if (next === 0) return end - (after - height) * SECOND;
  if (next === -1) return start + (height - before) * SECOND;
  return start + ((end - start) * (height - before)) / (after - before);
}
