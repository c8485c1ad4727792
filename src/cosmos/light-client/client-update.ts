import { minInt } from "../../platform/base/integers.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { ChainClient, LightBlockBytes } from "../client/chain-client.ts";
import { lacksHeight } from "../client/answers.ts";
import { ClientError } from "../client-error.ts";
import type { WireMessage } from "../client/tx/tx-types.ts";
import { MsgUpdateClient } from "../proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import { type LightClientQueries, type LightClientState, LightClientError } from "./client-queries.ts";
import type { RemoteHeight } from "../comet/ibc-height.ts";
import { memoize } from "../../platform/base/caches.ts";

const HEADER_URL = "/ibc.lightclients.tendermint.v1.Header";
const UPDATE_URL = "/ibc.core.client.v1.MsgUpdateClient";

/** A trusted height must not expire within this time, because a block must include the update before the height expires. */
const TRUST_MARGIN_NS = 300_000_000_000n;

/**
 * Returns the margin before expiry. The margin is at most a tenth of the trusting period, so that clients with short periods can be
 * updated.
 */
function marginOf({ trustingPeriodNs }: LightClientState): bigint {
  return minInt(trustingPeriodNs / 10n, TRUST_MARGIN_NS);
}

export interface Trust {
  readonly height: RemoteHeight;
  /** Encoded validator set of block `height` + 1. The validator set's hash is the `next_validators_hash` that the client stores. */
  readonly validatorSet: Uint8Array;
}

export interface TrustDeps {
  readonly local: Pick<LightClientQueries, "consensusState" | "consensusHeights">;
  readonly remote: Pick<ChainClient, "lightBlock">;
  /** Returns the local chain's time, in wall-clock ms. This time determines which heights have expired. */
  readonly localTimeMs: () => number;
}

export type TrustFinder = ReturnType<typeof createTrustFinder>;

/**
 * Creates a finder that chooses trusted heights for one client. The finder reads each height only once, so create one finder per
 * cycle. `signal` aborts all of the finder's requests.
 */
export function createTrustFinder(deps: TrustDeps, client: LightClientState, signal: AbortSignal) {
  const consensusOf = memoize(
    (height: RemoteHeight) => deps.local.consensusState(client.clientId, height, signal),
    keyOf,
  );
  const trustAt = memoize(async (height: RemoteHeight): Promise<Trust> => {
    // An error on the local chain is unrelated to the remote endpoint, so it is thrown below.
    const validators = consensusOf(height).then(
      ({ nextValidatorsHash }) => nextValidatorsHash,
      () => undefined,
    );
    const next = await deps.remote.lightBlock(height.height + 1n, signal, validators);
    return { height, validatorSet: next.validatorSet };
  }, keyOf);
  let heights: Promise<readonly RemoteHeight[]> | undefined;
  const greatestBelow = async (at: RemoteHeight): Promise<RemoteHeight | undefined> => {
    // Try the latest height first, because it usually works and saves reading the many pages of the list of heights.
    if (isBelow(client.latestHeight, at)) return client.latestHeight;
    return greatestListedBelow(at);
  };
  const greatestListedBelow = async (at: RemoteHeight): Promise<RemoteHeight | undefined> => {
    heights ??= deps.local.consensusHeights(client.clientId, signal);
    // ibc-go sorts heights as text ("1-9" after "1-10"), so compare all of them as numbers.
    return (await heights)
      .filter((height) => isBelow(height, at))
      .reduce<RemoteHeight | undefined>(
        (best, height) => (best === undefined || best.height < height.height ? height : best),
        undefined,
      );
  };
  const trustedAt = async (height: RemoteHeight, at: RemoteHeight): Promise<Trust> => {
    // Read the consensus state and the validator set in parallel, because both are needed unless the height has expired, which is rare.
    const [{ timeNs }, trust] = await Promise.all([consensusOf(height), trustAt(height)]);
    const nowNs = BigInt(Math.round(deps.localTimeMs())) * NS_PER_MS;
    // Block times increase with the height. If this height has expired, all lower heights have expired, too.
    if (timeNs + client.trustingPeriodNs <= nowNs + marginOf(client)) throw noTrustedHeight(client, at);
    return trust;
  };
  return {
    /**
     * Returns the greatest height below `at` that has the same revision and a consensus state, and whose next header an endpoint
     * can provide. Throws a `LightClientError` with code "no-trusted-height" if no height qualifies or it expires soon, or
     * "trusted-headers-missing" if the endpoints have pruned the headers.
     */
    below: async (at: RemoteHeight): Promise<Trust> => {
      const missing: bigint[] = [];
      let unknown: unknown;
      let height = await greatestBelow(at);
      for (let tries = 0; height !== undefined && tries < MAX_TRUSTED_HEIGHTS; tries++) {
        try {
          return await trustedAt(height, at);
        } catch (error) {
          if (lacksHeight(error)) missing.push(height.height + 1n);
          else if (isUnknown(error)) unknown = error;
          else throw error;
        }
        height = await greatestListedBelow(height);
      }
      if (missing.length > 0) throw headersMissing(client, missing);
      throw unknown ?? noTrustedHeight(client, at);
    },
  };
}

/**
 * Maximum number of trusted heights to try. If an endpoint has pruned the headers for all these heights, it has also pruned the
 * headers for lower heights.
 */
const MAX_TRUSTED_HEIGHTS = 4;

/** Returns true if the consensus state was not found, e.g. because the client state came from a node that is ahead of this one. */
function isUnknown(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "abci" && /not found/i.test(error.facts.log);
}

function headersMissing(
  { clientId, chainId }: LightClientState,
  heights: readonly bigint[],
): LightClientError {
  return new LightClientError(
    { code: "trusted-headers-missing", clientId, heights },
    heights.length === 1
      ? `no endpoint of ${chainId} has header ${heights[0]}, which follows the trusted height of ${clientId}; add an endpoint that has it`
      : `no endpoint of ${chainId} has the headers ${heights.join(", ")}, which follow the trusted heights of ${clientId}; add an endpoint that has them`,
  );
}

function keyOf({ height }: RemoteHeight): bigint {
  return height;
}

/** Returns true if `height` is lower than `at` and has the same revision. Only from such a height can a header at `at` be verified. */
function isBelow(height: RemoteHeight, at: RemoteHeight): boolean {
  return height.revision === at.revision && height.height < at.height;
}

function noTrustedHeight(client: LightClientState, at: RemoteHeight): LightClientError {
  return new LightClientError(
    { code: "no-trusted-height", clientId: client.clientId, height: at.height },
    `client ${client.clientId} has no consensus state below height ${at.height} within its trusting period`,
  );
}

/** Returns true if `at` is the client's latest height, so that no update is needed. */
export function isUpdatedTo(client: LightClientState, at: RemoteHeight): boolean {
  return client.latestHeight.revision === at.revision && client.latestHeight.height === at.height;
}

/** Encodes the update header for block `target` as an `Any`. */
export function headerAny(target: LightBlockBytes, trust: Trust): { typeUrl: string; value: Uint8Array } {
  const value = Header.encode({
    signedHeader: SignedHeader.decode(target.signedHeader),
    validatorSet: ValidatorSet.decode(target.validatorSet),
    trustedHeight: { revisionNumber: trust.height.revision, revisionHeight: trust.height.height },
    trustedValidators: ValidatorSet.decode(trust.validatorSet),
  }).finish();
  return { typeUrl: HEADER_URL, value };
}

/** Encodes a `MsgUpdateClient` with a header from {@link headerAny}. `signer` is the sender's bech32 address. */
export function updateClientMessage(
  clientId: string,
  clientMessage: { readonly typeUrl: string; readonly value: Uint8Array },
  signer: string,
): WireMessage {
  const value = MsgUpdateClient.encode({ clientId, clientMessage, signer }).finish();
  return { typeUrl: UPDATE_URL, value };
}
