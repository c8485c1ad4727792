import type { Counterparty } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import { type ModuleError, wrapErrors } from "../../../runtime/errors.ts";
import { LOCALHOST } from "../client/client-state.ts";
import {
  ErrIbcInvalidVersion,
  ErrInvalidClientType,
  ErrInvalidConnectionCounterparty,
  ErrInvalidConnectionIdentifier,
  ErrInvalidProof,
} from "../errors.ts";
import { isNumberedId, validateClientId, validateConnectionId } from "../identifiers.ts";
import { requireSigner } from "../signed-message.ts";
import { validateVersion } from "./versions.ts";

/** Number of versions that a counterparty may offer. */
const MAX_VERSIONS = 100;

/** Stateless checks of MsgConnectionOpenInit, in ibc-go's order. Throws `ModuleError`. */
export function validateOpenInit(message: wire.MsgConnectionOpenInit, bech32Prefix: string): void {
  requireNotLocalhost(message.clientId);
  named("invalid client ID", () => validateClientId(message.clientId));
  if ((message.counterparty?.connectionId ?? "") !== "")
    throw ErrInvalidConnectionCounterparty("counterparty connection identifier must be empty");
  if (message.version !== undefined) {
    const { version } = message;
    named("basic validation of the provided version failed", () => validateVersion(version));
  }
  requireSigner(bech32Prefix, message);
  validateCounterparty(message.counterparty);
}

/**
 * Stateless checks of MsgConnectionOpenTry. As in ibc-go 8.7, the states of the counterparty's client and their proofs are
 * ignored. Throws `ModuleError`.
 */
export function validateOpenTry(message: wire.MsgConnectionOpenTry, bech32Prefix: string): void {
  requireNotLocalhost(message.clientId);
  if (message.previousConnectionId !== "") {
    throw ErrInvalidConnectionIdentifier(
      "previous connection identifier must be empty, this field has been deprecated as crossing hellos are no longer supported",
    );
  }
  named("invalid client ID", () => validateClientId(message.clientId));
  named("invalid counterparty connection ID", () =>
    validateConnectionId(message.counterparty?.connectionId ?? ""),
  );
  validateVersions(message.counterpartyVersions);
  if (message.proofInit.length === 0) throw ErrInvalidProof("cannot submit an empty proof init");
  requireSigner(bech32Prefix, message);
  validateCounterparty(message.counterparty);
}

/** Stateless checks of MsgConnectionOpenAck, without the ignored fields. Throws `ModuleError`. */
export function validateOpenAck(message: wire.MsgConnectionOpenAck, bech32Prefix: string): void {
  requireNumberedId(message.connectionId);
  named("invalid counterparty connection ID", () => validateConnectionId(message.counterpartyConnectionId));
  validateVersion(message.version);
  if (message.proofTry.length === 0) throw ErrInvalidProof("cannot submit an empty proof try");
  requireSigner(bech32Prefix, message);
}

/** Stateless checks of MsgConnectionOpenConfirm. Throws `ModuleError`. */
export function validateOpenConfirm(message: wire.MsgConnectionOpenConfirm, bech32Prefix: string): void {
  requireNumberedId(message.connectionId);
  if (message.proofAck.length === 0) throw ErrInvalidProof("cannot submit an empty proof ack");
  requireSigner(bech32Prefix, message);
}

function requireNotLocalhost(clientId: string): void {
  if (clientId === LOCALHOST) throw ErrInvalidClientType("localhost connection handshakes are disallowed");
}

function requireNumberedId(connectionId: string): void {
  if (!isNumberedId(connectionId, "connection-")) throw ErrInvalidConnectionIdentifier();
}

function validateVersions(versions: wire.MsgConnectionOpenTry["counterpartyVersions"]): void {
  if (versions.length === 0) throw ErrIbcInvalidVersion("empty counterparty versions");
  if (versions.length > MAX_VERSIONS)
    throw ErrIbcInvalidVersion(`counterparty versions must not exceed ${MAX_VERSIONS} items`);
  for (const [index, version] of versions.entries()) {
    named(`basic validation failed on version with index ${index}`, () => validateVersion(version));
  }
}

function validateCounterparty(counterparty: Counterparty | undefined): void {
  const { clientId = "", connectionId = "", prefix } = counterparty ?? {};
  if (connectionId !== "")
    named("invalid counterparty connection ID", () => validateConnectionId(connectionId));
  named("invalid counterparty client ID", () => validateClientId(clientId));
  if ((prefix?.keyPrefix.length ?? 0) === 0)
    throw ErrInvalidConnectionCounterparty("counterparty prefix cannot be empty");
}

function named(words: string, check: () => void): void {
  wrapErrors((error: ModuleError) => error.wrap(words), check);
}
