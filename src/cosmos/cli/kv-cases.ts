import { z } from "zod";
import { toHex } from "../../platform/base/bytes.ts";
import type { ProofVerifier } from "../merkle/ics23/proof-verifier.ts";
import type { ProofVerdict } from "./proof-verdict.ts";
import { base64Bytes, hexBytes, wholeNumber } from "./recorded-json.ts";

/** A recorded `abci_query` response with its proof and the expected verdict. */
export const kvCase = z.object({
  name: z.string(),
  kind: z.literal("kv"),
  store: z.string(),
  key: hexBytes,
  height: wholeNumber,
  app_hash: hexBytes,
  abci_query_response: z.object({
    code: z.int().min(0),
    log: z.string(),
    value: base64Bytes.nullable(),
    proofOps: z.object({ ops: z.array(z.object({ data: base64Bytes })) }).nullable(),
  }),
  expect: z.object({ kind: z.enum(["membership", "non-membership", "query refused"]), valid: z.boolean() }),
});

/** Verifies a recorded response against the recorded app hash. */
export function verifyKvCase(recorded: z.output<typeof kvCase>, verifier: ProofVerifier): ProofVerdict {
  const { name, expect } = recorded;
  return { name, kind: expect.kind, expected: expect.valid, ...verifyClaim(recorded, verifier) };
}

function verifyClaim(
  recorded: z.output<typeof kvCase>,
  verifier: ProofVerifier,
): Pick<ProofVerdict, "valid" | "detail"> {
  const { abci_query_response: answer, expect, store, key, height } = recorded;
  if (answer.code !== 0) return { valid: false, detail: `the node rejected the query: ${answer.log}` };
  if (expect.kind === "query refused")
    return { valid: false, detail: "the node answered a query that it should reject" };
  const value = expect.kind === "membership" ? (answer.value ?? new Uint8Array()) : undefined;
  const operations = answer.proofOps?.ops.map(({ data }) => data);
  const verdict = verifier.verify(recorded.app_hash, { store, key, value, operations });
  if (!verdict.ok) return { valid: false, detail: verdict.error.text };
  const place = `${store}/${toHex(key)} at height ${height}`;
  const detail =
    value === undefined
      ? `${place} is absent`
      : `${place} is ${toHex(value.subarray(0, 32))}${value.length > 32 ? "…" : ""}`;
  return { valid: true, detail };
}
