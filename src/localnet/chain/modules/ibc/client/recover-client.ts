import { equalBytes } from "../../../../../platform/base/bytes.ts";
import { ClientState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { Context } from "../../../runtime/context.ts";
import {
  ErrClientNotActive,
  ErrClientNotFound,
  ErrConsensusStateNotFound,
  ErrInvalidClient,
  ErrInvalidClientHeight,
  ErrInvalidRecoveryClient,
  ErrInvalidSubstitute,
  ErrUpdateClientFailed,
} from "../host/errors.ts";
import { clientRecovered } from "../host/events.ts";
import { compareHeights, formatHeight, ZERO_HEIGHT } from "../host/height.ts";
import { type ClientStore, openClientStore } from "./client-store.ts";
import { latestHeightOf, type StoredClient } from "./client-state.ts";
import { TENDERMINT_TYPE } from "../host/identifiers.ts";
import { statusOf } from "./client-status.ts";

interface OpenClient {
  readonly id: string;
  readonly client: StoredClient;
  readonly store: ClientStore;
}

/**
 * Recovers a frozen or expired client (ibc-go `RecoverClient`): copies the latest consensus state of an active
 * substitute with the same settings. Throws `ModuleError`.
 */
export function recoverClient(context: Context, subjectId: string, substituteId: string): void {
  const subject = open(context, subjectId, "subject");
  if (statusOf(context, subject.client, subject.store) === "Active") {
    throw ErrInvalidRecoveryClient("cannot recover Active subject client");
  }
  const substitute = open(context, substituteId, "substitute");
  const heights = [latestHeightOf(subject.client), latestHeightOf(substitute.client)] as const;
  if (compareHeights(heights[0], heights[1]) >= 0) {
    throw ErrInvalidClientHeight(
      `subject client state latest height is greater or equal to substitute client state latest height (${formatHeight(heights[0])} >= ${formatHeight(heights[1])})`,
    );
  }
  const status = statusOf(context, substitute.client, substitute.store);
  if (status !== "Active") throw ErrClientNotActive(`substitute client is not active, status is ${status}`);
  copySubstitute(subject, substitute);
  for (const event of clientRecovered({ clientId: subjectId, clientType: subject.client.type }))
    context.emit(event);
}

function open(context: Context, id: string, role: string): OpenClient {
  const store = openClientStore(context, id);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound(`${role} client with ID ${id}`);
  return { id, client, store };
}

const FAILED = "failed to validate substitute client";

/** Copies the substitute's latest state to the subject (ibc-go `CheckSubstituteAndUpdateState`). */
function copySubstitute(subject: OpenClient, substitute: OpenClient): void {
  const [own, other] = [subject.client, substitute.client];
  if (own.type !== TENDERMINT_TYPE || other.type !== TENDERMINT_TYPE) {
    throw ErrInvalidClient(`expected a client of type ${TENDERMINT_TYPE}, got ${other.type}`).wrap(FAILED);
  }
  if (!isMatching(own.state, other.state)) {
    throw ErrInvalidSubstitute("subject client state does not match substitute client state").wrap(FAILED);
  }
  const height = latestHeightOf(other);
  const state = substitute.store.consensusState(height);
  if (state === undefined) {
    throw ErrConsensusStateNotFound("unable to retrieve latest consensus state for substitute client").wrap(
      FAILED,
    );
  }
  const processed = substitute.store.processed(height);
  if (processed === undefined) {
    throw ErrUpdateClientFailed(
      "unable to retrieve processed height for substitute client latest height",
    ).wrap(FAILED);
  }
  subject.store.setConsensusState(height, state, processed);
  const { chainId, trustingPeriod } = other.state;
  subject.store.setClientState({
    type: TENDERMINT_TYPE,
    state: { ...own.state, frozenHeight: ZERO_HEIGHT, latestHeight: height, chainId, trustingPeriod },
  });
}

/** Whether two clients differ only in heights, chain id, trusting period and the deprecated flags. */
function isMatching(a: ClientState, b: ClientState): boolean {
  return equalBytes(settingsOf(a), settingsOf(b));
}

function settingsOf(state: ClientState): Uint8Array {
  return ClientState.encode({
    ...state,
    latestHeight: ZERO_HEIGHT,
    frozenHeight: ZERO_HEIGHT,
    trustingPeriod: undefined,
    chainId: "",
    allowUpdateAfterExpiry: true,
    allowUpdateAfterMisbehaviour: true,
  }).finish();
}
