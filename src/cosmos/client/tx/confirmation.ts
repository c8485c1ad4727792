import { asBase64, asInt64, asText, asUint32, member } from "../../../platform/base/json.ts";
import { resultField } from "../rpc/rpc-response.ts";
import type { Confirmation } from "./tx-sender.ts";

/** A transaction in a block, or undefined while it is in none. */
export type FoundTransaction = Extract<Confirmation, { readonly kind: "included" | "failed" }> | undefined;

/** Decodes the result of `tx`. */
export function decodeFound(result: unknown, endpoint: string): NonNullable<FoundTransaction> {
  const root = resultField(result, "tx", endpoint);
  const txResult = member(root, "tx_result");
  const code = asUint32(member(txResult, "code"));
  const height = asInt64(member(root, "height"));
  const gasUsed = asInt64(member(txResult, "gas_used"));
  if (code === 0) {
    const gasWanted = asInt64(member(txResult, "gas_wanted"));
    return { kind: "included", height, gasUsed, gasWanted, data: asBase64(member(txResult, "data")) };
  }
  const codespace = asText(member(txResult, "codespace"));
  return { kind: "failed", height, code, codespace, log: asText(member(txResult, "log")), gasUsed };
}
