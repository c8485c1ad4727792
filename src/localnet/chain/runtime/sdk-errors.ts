import { registerError } from "./module-error.ts";

// Errors of codespace "sdk" by their Go names (cosmos-sdk v0.50 types/errors/errors.go), in the order of their codes.

export const ErrTxDecode = registerError("sdk", 2, "tx parse error");
export const ErrUnauthorized = registerError("sdk", 4, "unauthorized");
export const ErrInsufficientFunds = registerError("sdk", 5, "insufficient funds");
export const ErrUnknownRequest = registerError("sdk", 6, "unknown request");
export const ErrInvalidAddress = registerError("sdk", 7, "invalid address");
export const ErrInvalidPubKey = registerError("sdk", 8, "invalid pubkey");
export const ErrUnknownAddress = registerError("sdk", 9, "unknown address");
export const ErrInvalidCoins = registerError("sdk", 10, "invalid coins");
export const ErrOutOfGas = registerError("sdk", 11, "out of gas");
export const ErrMemoTooLarge = registerError("sdk", 12, "memo too large");
export const ErrInsufficientFee = registerError("sdk", 13, "insufficient fee");
export const ErrTooManySignatures = registerError("sdk", 14, "maximum number of signatures exceeded");
export const ErrNoSignatures = registerError("sdk", 15, "no signatures supplied");
export const ErrInvalidRequest = registerError("sdk", 18, "invalid request");
export const ErrKeyNotFound = registerError("sdk", 22, "key not found");
export const ErrorInvalidSigner = registerError(
  "sdk",
  24,
  "tx intended signer does not match the given signer",
);
export const ErrInvalidHeight = registerError("sdk", 26, "invalid height");
export const ErrInvalidType = registerError("sdk", 29, "invalid type");
export const ErrTxTimeoutHeight = registerError("sdk", 30, "tx timeout height");
export const ErrUnknownExtensionOptions = registerError("sdk", 31, "unknown extension options");
export const ErrWrongSequence = registerError("sdk", 32, "incorrect account sequence");
export const ErrLogic = registerError("sdk", 35, "internal logic error");
export const ErrNotSupported = registerError("sdk", 37, "feature not supported");
export const ErrNotFound = registerError("sdk", 38, "not found");
export const ErrInvalidGasLimit = registerError("sdk", 41, "invalid gas limit");

/** A panic that baseapp recovered, as cosmossdk.io/errors registers it. */
export const ErrPanic = registerError("undefined", 111_222, "panic");

/** Codespace `gov`: somebody else than the authority signed a message of the authority. */
export const ErrInvalidSigner = registerError(
  "gov",
  8,
  "expected gov account as only signer for proposal message",
);
