import { registerError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./keys.ts";

export const ErrRateLimitExceeded = registerError(MODULE_NAME, 2, "rate limit exceeded");
export const ErrBadMessage = registerError(MODULE_NAME, 3, "bad message");
export const ErrContractError = registerError(MODULE_NAME, 4, "contract error");
