import { unregisteredError } from "../../../runtime/errors.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { ClientState as LocalhostState } from "../../../../../cosmos/proto/gen/ibc/lightclients/localhost/v2/localhost.ts";
import { ClientState as TendermintState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/type-urls.ts";
import { decodeUntrusted, ErrUnpackAny } from "../errors.ts";
import { ZERO_HEIGHT } from "../height.ts";

/** Type of clients of CometBFT chains. */
export const TENDERMINT_TYPE = "07-tendermint";

/** Id and type of the client that a chain has of itself. */
export const LOCALHOST = "09-localhost";

/** Type URL of the state of the localhost client. */
export const LOCALHOST_URL = "/ibc.lightclients.localhost.v2.ClientState";

/** A client state with the type of its client. */
export type StoredClient =
  | { readonly type: typeof TENDERMINT_TYPE; readonly state: TendermintState }
  | { readonly type: typeof LOCALHOST; readonly state: LocalhostState };

/**
 * Decodes a client state from its Any. Throws `ModuleError` when it is absent, has an unsupported type, or does not
 * decode.
 */
export function unpackClientState(any: Any | undefined): StoredClient {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintClientState:
      return {
        type: TENDERMINT_TYPE,
        state: withNonNullableFields(decodeUntrusted(() => TendermintState.decode(any.value))),
      };
    case LOCALHOST_URL:
      return { type: LOCALHOST, state: decodeUntrusted(() => LocalhostState.decode(any.value)) };
    default:
      throw unregisteredError(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientState`,
      );
  }
}

/** Encodes a client state as the Any that is stored and that counterparties prove. */
export function packClientState(client: StoredClient): Any {
  if (client.type === LOCALHOST) {
    return { typeUrl: LOCALHOST_URL, value: LocalhostState.encode(client.state).finish() };
  }
  return { typeUrl: TYPE_URL.tendermintClientState, value: TendermintState.encode(client.state).finish() };
}

/** Returns the bytes of {@link packClientState}. */
export function encodeClientState(client: StoredClient): Uint8Array {
  return Any.encode(packClientState(client)).finish();
}

/** Returns the latest height of a client; zero when absent. */
export function latestHeightOf(client: StoredClient): Height {
  return client.state.latestHeight ?? ZERO_HEIGHT;
}

/**
 * Replaces absent messages by empty ones. Go declares these fields non-nullable and encodes them always, also when they
 * are empty. Without this, the stored bytes would differ from those of a real chain.
 */
function withNonNullableFields(state: TendermintState): TendermintState {
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
