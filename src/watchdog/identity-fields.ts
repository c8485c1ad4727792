import { z } from "zod";
import { decodeBech32 } from "../platform/base/bytes.ts";
import { issueText, parseListenAddress } from "../platform/config/config-fields.ts";

/** Field for a bech32 address whose prefix matches. */
export function addressField(prefix: RegExp, example: string) {
  return z.string().refine((text) => hasPrefix(text, prefix), {
    error: issueText("is not such an address", `bech32, such as ${example}`),
  });
}

function hasPrefix(text: string, pattern: RegExp): boolean {
  try {
    return pattern.test(decodeBech32(text).prefix);
  } catch {
    return false;
  }
}

/** Field for "host:port". */
export function targetField() {
  return z.string().refine((text) => parseListenAddress(text) !== undefined, {
    error: issueText("is not a host and a port", '"host:port", such as "127.0.0.1:9090"'),
  });
}

/** Field for the name of a validator or a node. */
export function nameField() {
  return z.string().refine((text) => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text), {
    error: issueText("is not a name", 'letters, digits, "-", "_" and ".", at most 63'),
  });
}
