import { CometError } from "../../../comet/comet-error.ts";
import { ModuleError, registerError } from "../../runtime/module-error.ts";

const CLIENT = "client";
const CONNECTION = "connection";
const TENDERMINT = "07-tendermint";
const IBC = "ibc";

/** Errors of codespace "client" (ibc-go 02-client), by their Go names. */
export const ErrInvalidClient = registerError(CLIENT, 3, "light client is invalid");
export const ErrClientNotFound = registerError(CLIENT, 4, "light client not found");
export const ErrConsensusStateNotFound = registerError(CLIENT, 7, "consensus state not found");
export const ErrInvalidConsensus = registerError(CLIENT, 8, "invalid consensus state");
export const ErrInvalidClientType = registerError(CLIENT, 10, "invalid client type");
export const ErrInvalidClientHeader = registerError(CLIENT, 12, "invalid client header");
export const ErrInvalidMisbehaviour = registerError(CLIENT, 13, "invalid light client misbehaviour");
export const ErrUpdateClientFailed = registerError(CLIENT, 23, "unable to update light client");
export const ErrInvalidRecoveryClient = registerError(CLIENT, 24, "invalid recovery client");
export const ErrInvalidClientHeight = registerError(CLIENT, 26, "invalid height");
export const ErrInvalidSubstitute = registerError(CLIENT, 27, "invalid client state substitute");
export const ErrClientNotActive = registerError(CLIENT, 29, "client state is not active");

/** Errors of codespace "07-tendermint". */
export const ErrInvalidChainId = registerError(TENDERMINT, 2, "invalid chain-id");
export const ErrInvalidTrustingPeriod = registerError(TENDERMINT, 3, "invalid trusting period");
export const ErrInvalidUnbondingPeriod = registerError(TENDERMINT, 4, "invalid unbonding period");
export const ErrInvalidHeaderHeight = registerError(TENDERMINT, 5, "invalid header height");
export const ErrInvalidMaxClockDrift = registerError(TENDERMINT, 7, "invalid max clock drift");
export const ErrTrustingPeriodExpired = registerError(
  TENDERMINT,
  11,
  "time since latest trusted state has passed the trusting period",
);
export const ErrInvalidProofSpecs = registerError(TENDERMINT, 13, "invalid proof specs");
export const ErrInvalidValidatorSet = registerError(TENDERMINT, 14, "invalid validator set");
export const ErrInvalidTrustLevel = registerError(TENDERMINT, 15, "invalid trust level");

/** Errors of codespace "connection" (ibc-go 03-connection). */
export const ErrConnectionNotFound = registerError(CONNECTION, 3, "connection not found");
export const ErrClientConnectionPathsNotFound = registerError(
  CONNECTION,
  4,
  "light client connection paths not found",
);

/** Errors of codespace "ibc". */
export const ErrIbcUnauthorized = registerError(IBC, 2, "unauthorized");
export const ErrIbcInvalidAddress = registerError(IBC, 5, "invalid address");
export const ErrUnpackAny = registerError(IBC, 14, "failed unpacking protobuf message from Any");

/** Error of codespace "host" (ICS-24 identifiers). */
export const ErrInvalidId = registerError("host", 2, "invalid identifier");

/** What this chain does not do (yet), as an error of the SDK's own codespace. */
export const ErrNotImplemented = registerError("sdk", 37, "feature not supported");

/** An error that ibc-go never registered: code 1 of codespace "undefined". */
export function unregistered(text: string): ModuleError {
  return new ModuleError("undefined", 1, text, text);
}

/** Runs a CometBFT check; what it finds wrong becomes an unregistered error with `words` in front, as `errorsmod.Wrap`. */
export function asModuleError<T>(words: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CometError) throw unregistered(error.message).wrap(words);
    throw error;
  }
}

/** Runs the decoding of untrusted bytes; whatever is wrong with them becomes an unregistered error, as Go's `proto: …`. */
export function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ModuleError) throw error;
    // generated decoders throw plain errors for truncated or wrongly typed bytes
    throw unregistered(`proto: ${error instanceof Error ? error.message : "cannot decode"}`);
  }
}
