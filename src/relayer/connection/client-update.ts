import type { ChainClient, LightBlockBytes } from "../../client/chain-client.ts";
import type { WireMessage } from "../../client/tx/tx-sender.ts";
import { MsgUpdateClient } from "../../proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { SignedHeader } from "../../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../proto/gen/tendermint/types/validator.ts";
import { askOnce } from "../ask-once.ts";
import type { LightClientState, LocalQueries } from "../registry/local-queries.ts";
import type { RemoteHeight } from "../registry/registered-query.ts";
import { RelayError } from "../relay-error.ts";

const HEADER_URL = "/ibc.lightclients.tendermint.v1.Header";
const UPDATE_URL = "/ibc.core.client.v1.MsgUpdateClient";

/** A trusted consensus state must stay inside the trusting period for this long: time to land in a block. */
const TRUST_MARGIN_NS = 300_000_000_000n;

/** What a client trusts and can step from: a height, and the validators of the block after it (encoded). */
export interface Trust {
  readonly height: RemoteHeight;
  readonly validatorSet: Uint8Array;
}

/** What finding trust needs of both chains. */
export interface TrustDeps {
  readonly local: Pick<LocalQueries, "consensusTimeNs" | "consensusHeights">;
  readonly remote: Pick<ChainClient, "lightBlock">;
  /** Wall-clock time, ns since the Unix epoch. */
  readonly nowNs: () => bigint;
}

/** Finds from where a client can step to a height; asks each thing once, for a round. */
export interface TrustFinder {
  /**
   * The greatest height below `at`, compared as numbers, whose consensus state stays trusted long enough. Throws
   * `RelayError` "no-trusted-height" when there is none.
   */
  readonly below: (at: RemoteHeight) => Promise<Trust>;
}

/** Creates a finder for a client as it is now; `signal` ends all that it asks. */
export function createTrustFinder(
  deps: TrustDeps,
  client: LightClientState,
  signal: AbortSignal,
): TrustFinder {
  const timeOf = askOnce(
    (height: RemoteHeight) => deps.local.consensusTimeNs(client.clientId, height, signal),
    keyOf,
  );
  const trustAt = askOnce(async (height: RemoteHeight): Promise<Trust> => {
    const next = await deps.remote.lightBlock(height.height + 1n, signal);
    return { height, validatorSet: next.validatorSet };
  }, keyOf);
  let heights: Promise<readonly RemoteHeight[]> | undefined;
  const greatestBelow = async (at: RemoteHeight): Promise<RemoteHeight | undefined> => {
    if (isBelow(client.latestHeight, at)) return client.latestHeight;
    heights ??= deps.local.consensusHeights(client.clientId, signal);
    return (await heights)
      .filter((height) => isBelow(height, at))
      .reduce<RemoteHeight | undefined>(
        (best, height) => (best === undefined || best.height < height.height ? height : best),
        undefined,
      );
  };
  return {
    below: async (at) => {
      // Times grow with heights: when the greatest height is not usable, no lower one is.
      const height = await greatestBelow(at);
      if (height === undefined) throw noTrustedHeight(client, at);
      // The validators are fetched along with the time, since the time is nearly always good.
      const [timeNs, trust] = await Promise.all([timeOf(height), trustAt(height)]);
      if (timeNs + client.trustingPeriodNs <= deps.nowNs() + TRUST_MARGIN_NS)
        throw noTrustedHeight(client, at);
      return trust;
    },
  };
}

function keyOf({ height }: RemoteHeight): bigint {
  return height;
}

function isBelow(height: RemoteHeight, at: RemoteHeight): boolean {
  return height.revision === at.revision && height.height < at.height;
}

function noTrustedHeight(client: LightClientState, at: RemoteHeight): RelayError {
  return new RelayError(
    { code: "no-trusted-height", clientId: client.clientId, height: at.height },
    `client ${client.clientId} holds no consensus state below height ${at.height} that is still trusted`,
  );
}

/** Whether the client has the header of this height already, so that no update needs to be paid for. */
export function knowsHeight(client: LightClientState, at: RemoteHeight): boolean {
  return client.latestHeight.revision === at.revision && client.latestHeight.height === at.height;
}

/** The header that leads the client from what it trusts to the block `target`, as the Any that messages carry. */
export function headerAny(target: LightBlockBytes, trust: Trust): { typeUrl: string; value: Uint8Array } {
  const value = Header.encode({
    signedHeader: SignedHeader.decode(target.signedHeader),
    validatorSet: ValidatorSet.decode(target.validatorSet),
    trustedHeight: { revisionNumber: trust.height.revision, revisionHeight: trust.height.height },
    trustedValidators: ValidatorSet.decode(trust.validatorSet),
  }).finish();
  return { typeUrl: HEADER_URL, value };
}

/** `MsgUpdateClient` with this header, signed by `signer` (bech32). */
export function updateClientMessage(
  clientId: string,
  clientMessage: { readonly typeUrl: string; readonly value: Uint8Array },
  signer: string,
): WireMessage {
  const value = MsgUpdateClient.encode({ clientId, clientMessage, signer }).finish();
  return { typeUrl: UPDATE_URL, value };
}
