import type {
  QueryVerifyMembershipRequest,
  QueryVerifyMembershipResponse,
} from "../../../../../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { isOutOfGas, ModuleError, QueryError } from "../../../runtime/errors.ts";
import { ErrClientNotActive, ErrClientNotFound, ErrInvalidClientType, ErrInvalidID } from "../errors.ts";
import { isZeroHeight, ZERO_HEIGHT } from "../height.ts";
import { validateClientId } from "../identifiers.ts";
import { checkArgument, requireFound } from "../query-responses.ts";
import { LOCALHOST } from "./client-state.ts";
import { statusOf } from "./client-status.ts";
import { openClientStore } from "./client-store.ts";
import { verifyStored } from "./verify-proof.ts";

const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
const SOLO_MACHINE = "06-solomachine";
/** A query of a proof costs as much as reading it three times, at 3 gas for a byte. */
const GAS_PER_PROOF_BYTE = 9n;

/**
 * Says whether a proof shows that the counterparty of a client stores a value. A proof that does not is no error. Throws
 * `QueryError` for a request without a client or without one of its parts, in ibc-go's order and with its texts.
 */
export function verifyMembership(
  context: Context,
  request: QueryVerifyMembershipRequest,
): QueryVerifyMembershipResponse {
  const { clientId, proof, value } = request;
  checkArgument(() => validateClientId(clientId));
  checkArgument(() => requireProvingClient(clientId));
  const proofHeight = request.proofHeight ?? ZERO_HEIGHT;
  const keyPath = request.merklePath?.keyPath ?? [];
  requirePart(proof.length > 0, "empty proof");
  requirePart(!isZeroHeight(proofHeight), "proof height must be non-zero");
  requirePart(keyPath.length > 0, "empty merkle path");
  requirePart(value.length > 0, "empty value");
  requireActive(context, clientId);
  context.gas.consume(GAS_PER_PROOF_BYTE * BigInt(proof.length), "verify membership query");
  const [prefix = "", path, ...more] = keyPath;
  // A proof leads through two trees, the one of the store and the one of the stores.
  if (path === undefined || more.length > 0) return { success: false };
  const delay = { timeNs: request.timeDelay, blocks: request.blockDelay };
  const claim = { clientId, proofHeight, proof, prefix: utf8(prefix), path, delay };
  return { success: isVerified(() => verifyStored(context, claim, value)) };
}

/** Throws when the id has not the form of ibc-go, and for types whose clients prove nothing about another chain. */
function requireProvingClient(clientId: string): void {
  const type = clientId === LOCALHOST ? clientId : /^(\w+(?:[\w-]*\w)?)-[0-9]{1,20}$/.exec(clientId)?.[1];
  if (type === undefined)
    throw ErrInvalidID(`invalid client identifier ${clientId} is not in format: \`{client-type}-{N}\``);
  if (type === LOCALHOST || type === SOLO_MACHINE)
    throw ErrInvalidClientType(
      `verify membership is disabled for client types [${LOCALHOST} ${SOLO_MACHINE}]`,
    );
}

function requirePart(isPresent: boolean, text: string): void {
  if (!isPresent) throw new QueryError(INVALID_ARGUMENT, text);
}

function requireActive(context: Context, clientId: string): void {
  const store = openClientStore(context, clientId);
  const client = requireFound(store.clientState(), () => ErrClientNotFound(clientId));
  const status = statusOf(context, client, store);
  if (status === "Active") return;
  const text = `cannot verify membership using client (${clientId}) with status ${status}`;
  throw new QueryError(FAILED_PRECONDITION, ErrClientNotActive(text).message);
}

function isVerified(verify: () => void): boolean {
  try {
    verify();
    return true;
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    return false;
  }
}
