import { registerError } from "../../runtime/errors.ts";

// Errors of codespace "bank" by their Go names (cosmos-sdk v0.50 x/bank/types/errors.go).
export const ErrNoInputs = registerError("bank", 2, "no inputs to send transaction");
export const ErrNoOutputs = registerError("bank", 3, "no outputs to send transaction");
export const ErrInputOutputMismatch = registerError("bank", 4, "sum inputs != sum outputs");
export const ErrSendDisabled = registerError("bank", 5, "send transactions are disabled");
export const ErrMultipleSenders = registerError("bank", 9, "multiple senders not allowed");
