import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../base/secret.ts";

/** Whether an `Authorization` header carries this bearer token; takes the same time for every wrong token. */
export function hasBearerToken(header: string | undefined, token: Secret): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token.reveal()));
}

/** Equal length for the comparison, whatever was given. */
function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
