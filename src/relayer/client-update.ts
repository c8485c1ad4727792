import type { ChainClient, LightBlockBytes } from "../client/chain-client.ts";
import type { WireMessage } from "../client/tx-sender.ts";
import { MsgUpdateClient } from "../proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import type { LightClientState, LocalQueries } from "./local-queries.ts";
import type { RemoteHeight } from "./registered-query.ts";
import { RelayError } from "./relay-error.ts";

const HEADER_URL = "/ibc.lightclients.tendermint.v1.Header";
const UPDATE_URL = "/ibc.core.client.v1.MsgUpdateClient";

/** A trusted consensus state must stay inside the trusting period for this long: time to land in a block. */
const TRUST_MARGIN_NS = 300_000_000_000n;

/** What a header needs of both chains. */
export interface HeaderDeps {
  readonly local: LocalQueries;
  readonly remote: ChainClient;
  /** Wall-clock time, ns since the Unix epoch. */
  readonly nowNs: () => bigint;
}

/** Whether the client has the header of this height already, so that no update needs to be paid for. */
export function knowsHeight(client: LightClientState, at: RemoteHeight): boolean {
  return client.latestHeight.revision === at.revision && client.latestHeight.height === at.height;
}

/**
 * The height from which the client can step to `at`: the greatest one below it, compared as numbers, whose consensus
 * state stays trusted long enough. Throws `RelayError` "no-trusted-height" when none is left: the client needs recovery.
 */
async function trustedHeight(
  deps: HeaderDeps,
  client: LightClientState,
  at: RemoteHeight,
  signal: AbortSignal,
): Promise<RemoteHeight> {
  const usable = async (height: RemoteHeight): Promise<boolean> => {
    if (height.revision !== at.revision || height.height >= at.height) return false;
    const timeNs = await deps.local.consensusTimeNs(client.clientId, height, signal);
    return timeNs + client.trustingPeriodNs > deps.nowNs() + TRUST_MARGIN_NS;
  };
  if (await usable(client.latestHeight)) return client.latestHeight;
  const below = (await deps.local.consensusHeights(client.clientId, signal))
    .filter((height) => height.revision === at.revision && height.height < at.height)
    .toSorted((a, b) => (a.height < b.height ? 1 : -1));
  // Times grow with heights: when the greatest height is not usable, no lower one is.
  const [best] = below;
  if (best !== undefined && (await usable(best))) return best;
  throw new RelayError(
    { code: "no-trusted-height", clientId: client.clientId, height: at.height },
    `client ${client.clientId} holds no consensus state below height ${at.height} that is still trusted: it must be recovered by governance`,
  );
}

/** The encoded header that leads the client from its trusted height to the block `target`. */
export async function updateHeader(
  deps: HeaderDeps,
  client: LightClientState,
  target: LightBlockBytes,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const at = { revision: revisionOf(client.chainId), height: target.height };
  const trusted = await trustedHeight(deps, client, at, signal);
  const next = await deps.remote.lightBlock(trusted.height + 1n, signal);
  return Header.encode({
    signedHeader: SignedHeader.decode(target.signedHeader),
    validatorSet: ValidatorSet.decode(target.validatorSet),
    trustedHeight: { revisionNumber: trusted.revision, revisionHeight: trusted.height },
    trustedValidators: ValidatorSet.decode(next.validatorSet),
  }).finish();
}

/** An encoded header as the Any that messages carry. */
export function headerAny(header: Uint8Array): { typeUrl: string; value: Uint8Array } {
  return { typeUrl: HEADER_URL, value: header };
}

/** `MsgUpdateClient` with this header, signed by `signer` (bech32). */
export function updateClientMessage(clientId: string, header: Uint8Array, signer: string): WireMessage {
  const value = MsgUpdateClient.encode({ clientId, clientMessage: headerAny(header), signer }).finish();
  return { typeUrl: UPDATE_URL, value };
}

/** The revision in a chain id's "-N" ending, 0 without one, as IBC reads it. */
export function revisionOf(chainId: string): bigint {
  const match = /^.*[^\n-]-([1-9]\d*)$/.exec(chainId);
  return match?.[1] === undefined ? 0n : BigInt(match[1]);
}
