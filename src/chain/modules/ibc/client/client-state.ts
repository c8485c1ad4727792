import { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../proto/gen/ibc/core/client/v1/client.ts";
import { ClientState as LocalhostState } from "../../../../proto/gen/ibc/lightclients/localhost/v2/localhost.ts";
import { ClientState as TendermintState } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../proto/type-urls.ts";
import { decoded, ErrUnpackAny, unregistered } from "../errors.ts";
import { ZERO_HEIGHT } from "../height.ts";

/** Type of a client that follows a CometBFT chain. */
export const TENDERMINT_TYPE = "07-tendermint";

/** Id and type of the client that every chain has of itself. */
export const LOCALHOST = "09-localhost";

const LOCALHOST_URL = "/ibc.lightclients.localhost.v2.ClientState";

/** A client's state, by the type of the client. */
export type StoredClient =
  | { readonly type: typeof TENDERMINT_TYPE; readonly state: TendermintState }
  | { readonly type: typeof LOCALHOST; readonly state: LocalhostState };

/** Reads a client state from its Any. Throws ibc/14 when absent, and for a type that this chain has no client for. */
export function unpackClientState(any: Any | undefined): StoredClient {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintClientState:
      return { type: TENDERMINT_TYPE, state: withValues(decoded(() => TendermintState.decode(any.value))) };
    case LOCALHOST_URL:
      return { type: LOCALHOST, state: decoded(() => LocalhostState.decode(any.value)) };
    default:
      throw unregistered(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientState`,
      );
  }
}

/** A client state as the Any that is stored and proven. */
export function packClientState(client: StoredClient): Any {
  if (client.type === LOCALHOST) {
    return { typeUrl: LOCALHOST_URL, value: LocalhostState.encode(client.state).finish() };
  }
  return { typeUrl: TYPE_URL.tendermintClientState, value: TendermintState.encode(client.state).finish() };
}

/** The encoded form of {@link packClientState}. */
export function encodeClientState(client: StoredClient): Uint8Array {
  return Any.encode(packClientState(client)).finish();
}

/** The highest height that a client knows. */
export function latestHeightOf(client: StoredClient): Height {
  return client.state.latestHeight ?? ZERO_HEIGHT;
}

/** Go holds these messages by value: absent ones are written as empty. */
function withValues(state: TendermintState): TendermintState {
  return {
    ...state,
    trustLevel: state.trustLevel ?? { numerator: 0n, denominator: 0n },
    trustingPeriod: state.trustingPeriod ?? { seconds: 0n, nanos: 0 },
    unbondingPeriod: state.unbondingPeriod ?? { seconds: 0n, nanos: 0 },
    maxClockDrift: state.maxClockDrift ?? { seconds: 0n, nanos: 0 },
    frozenHeight: state.frozenHeight ?? ZERO_HEIGHT,
    latestHeight: state.latestHeight ?? ZERO_HEIGHT,
  };
}
