import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { errorText, EXIT } from "../../platform/base/errors.ts";
import { createProofVerifier } from "../merkle/ics23/proof-verifier.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { verifyKvCase, kvCase } from "./kv-cases.ts";
import { verifyLightClientFile, lightClientFile } from "./light-client-cases.ts";
import type { ProofVerdict } from "./proof-verdict.ts";
import { verifyTxCase, txCase } from "./tx-cases.ts";

const MAX_FILE_BYTES = 256 * 1024 * 1024;

const proofCases = z.array(z.discriminatedUnion("kind", [kvCase, txCase])).min(1);

/** Reads a file of recorded proofs or light-client cases and verifies each case. Throws `CliError` for any other content. */
export function verifyProofFile(path: string): readonly ProofVerdict[] {
  const json = readJson(path);
  if (Array.isArray(json)) {
    const verifier = createProofVerifier();
    return parse(proofCases, json, path).map((one) =>
      one.kind === "kv" ? verifyKvCase(one, verifier) : verifyTxCase(one),
    );
  }
  return verifyLightClientFile(parse(lightClientFile, json, path));
}

function readJson(path: string): unknown {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new CliError(EXIT.fatal, `${path} cannot be read as JSON`, { cause });
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, json: unknown, path: string): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const where =
    first === undefined || first.path.length === 0 ? "" : ` at ${first.path.map(String).join(".")}`;
  throw new CliError(
    EXIT.fatal,
    `${path} is not a file of recorded proofs (a list of kv and tx cases) or light-client cases (blocks and cases)${where}: ${errorText(new Error(first?.message ?? "no case"))}`,
  );
}
