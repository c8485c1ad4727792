import { registerError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./keys.ts";

export const IncorrectFailureToResubmit = registerError(MODULE_NAME, 1101, "incorrect failure to resubmit");
export const FailedToResubmitFailure = registerError(MODULE_NAME, 1102, "failed to resubmit failure");
export const ErrSudoOutOfGas = registerError(
  MODULE_NAME,
  1103,
  "sudo handling went beyond the gas limit allowed by the module",
);
export const ErrNotContractResubmission = registerError(
  MODULE_NAME,
  1104,
  "failures resubmission is only allowed to be called by a smart contract",
);
