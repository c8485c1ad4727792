import { registerError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./keys.ts";

export const ErrInvalidSigner = registerError(
  MODULE_NAME,
  2,
  "expected gov account as only signer for proposal message",
);
