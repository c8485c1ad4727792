import { z } from "zod";
import { equalBytes, fromBase64, fromHex, sha256, toHex } from "../../src/platform/base/bytes.ts";
import { errorText } from "../../src/platform/base/errors.ts";
import { readTextFile } from "../../src/platform/base/read-text.ts";
import { NS_PER_SECOND, parseRfc3339Ns } from "../../src/platform/base/time.ts";
import { txResultLeaf, validatorsHash } from "../../src/cosmos/comet/block-hashes.ts";
import type { Header, SignedHeader, ValidatorSet } from "../../src/cosmos/comet/block-types.ts";
import { CometError } from "../../src/cosmos/comet/comet-error.ts";
import { verifyHeader } from "../../src/cosmos/comet/light-client.ts";
import { parseSignedHeader, parseValidators } from "../../src/cosmos/comet/rpc-json.ts";
import { validateSignedHeader } from "../../src/cosmos/comet/validate.ts";
import { verifyCommitLight } from "../../src/cosmos/comet/verify-commit.ts";
import { createProofVerifier, type ProofVerifier } from "../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { simpleProofs, verifySimpleProof } from "../../src/cosmos/merkle/simple-tree.ts";

/** Result of verifying one recorded case. */
interface ProofResult {
  readonly name: string;
  /** "membership", "non-membership", "query refused", "transaction" or "light client". */
  readonly kind: string;
  /** The proven statement, or the reason why the proof is invalid. */
  readonly detail: string;
  readonly valid: boolean;
  /** The result that the file expects. */
  readonly expected: boolean;
}

/** True if the result equals the recorded one. */
export function isAsRecorded(result: ProofResult): boolean {
  return result.valid === result.expected;
}

/** Hex in either case, parsed to bytes. */
const hexBytes = z.string().transform((text, context) => toBytes(text, fromHex, context));

/** Standard base64, parsed to bytes. */
const base64Bytes = z.string().transform((text, context) => toBytes(text, fromBase64, context));

/** A height or count, as number or decimal text, parsed to bigint. */
const wholeNumber = z
  .union([z.int().min(0), z.string().regex(/^\d{1,20}$/)])
  .transform((value) => BigInt(value));

/** A recorded block. `signed_header` and `validators` are encoded as in CometBFT RPC. */
const recordedBlock = z.object({
  height: wholeNumber,
  signed_header: z.unknown(),
  validators: z.unknown(),
});

function toBytes(
  text: string,
  decode: (text: string) => Uint8Array,
  context: { readonly addIssue: (message: string) => void },
): Uint8Array {
  try {
    return decode(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : "does not decode");
    return z.NEVER;
  }
}

/** A recorded `abci_query` response with its proof and the expected result. */
const kvCase = z.object({
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
function verifyKvCase(recorded: z.output<typeof kvCase>, verifier: ProofVerifier): ProofResult {
  const { name, expect } = recorded;
  return { name, kind: expect.kind, expected: expect.valid, ...verifyClaim(recorded, verifier) };
}

function verifyClaim(
  recorded: z.output<typeof kvCase>,
  verifier: ProofVerifier,
): Pick<ProofResult, "valid" | "detail"> {
  const { abci_query_response: response, expect, store, key, height } = recorded;
  if (response.code !== 0) return { valid: false, detail: `the node rejected the query: ${response.log}` };
  if (expect.kind === "query refused")
    return { valid: false, detail: "the node accepted a query that it should reject" };
  const value = expect.kind === "membership" ? (response.value ?? new Uint8Array()) : undefined;
  const operations = response.proofOps?.ops.map(({ data }) => data);
  const result = verifier.verify(recorded.app_hash, { store, key, value, operations });
  if (!result.ok) return { valid: false, detail: result.error.text };
  const place = `${store}/${toHex(key)} at height ${height}`;
  const detail =
    value === undefined
      ? `${place} is absent`
      : `${place} is ${toHex(value.subarray(0, 32))}${value.length > 32 ? "…" : ""}`;
  return { valid: true, detail };
}

const TRUST_LEVEL = { numerator: 1n, denominator: 3n };

/** Recorded blocks, and pairs of them with a light client's expected result. */
const lightClientFile = z.object({
  chain_id: z.string(),
  blocks: z.array(recordedBlock),
  cases: z.array(
    z.object({
      trusted: wholeNumber,
      untrusted: wholeNumber,
      trusting_period_s: wholeNumber,
      max_clock_drift_s: wholeNumber,
      now: z.string(),
      valid: z.boolean(),
      note: z.string().optional(),
    }),
  ),
});

type LightClientFile = z.output<typeof lightClientFile>;
type LightClientCase = LightClientFile["cases"][number];

/** Verifies each untrusted header from its trusted header, at the recorded time, with trust level 1/3. */
function verifyLightClientFile(file: LightClientFile): readonly ProofResult[] {
  const blocks = new Map(file.blocks.map((block) => [block.height, block]));
  return file.cases.map((one) => verifyCase(file, blocks, one));
}

function verifyCase(
  file: LightClientFile,
  blocks: ReadonlyMap<bigint, LightClientFile["blocks"][number]>,
  one: LightClientCase,
): ProofResult {
  const step = `${file.chain_id}: ${one.trusted} → ${one.untrusted}`;
  const name = one.note === undefined || one.note === "" ? step : `${step} (${one.note})`;
  const common = { name, kind: "light client", expected: one.valid };
  try {
    const trusted = readBlock(blocks, one.trusted);
    const untrusted = readBlock(blocks, one.untrusted);
    verifyHeader(
      { header: trusted.signed.header, validators: trusted.validators },
      { ...untrusted.signed, validators: untrusted.validators },
      {
        nowNs: parseRfc3339Ns(one.now),
        trustingPeriodNs: one.trusting_period_s * NS_PER_SECOND,
        maxClockDriftNs: one.max_clock_drift_s * NS_PER_SECOND,
        trustLevel: TRUST_LEVEL,
      },
    );
    return { ...common, valid: true, detail: `header ${one.untrusted} verifies from header ${one.trusted}` };
  } catch (error) {
    if (error instanceof CometError) return { ...common, valid: false, detail: error.message };
    throw error;
  }
}

function readBlock(
  blocks: ReadonlyMap<bigint, LightClientFile["blocks"][number]>,
  height: bigint,
): { readonly signed: SignedHeader; readonly validators: ValidatorSet } {
  const block = blocks.get(height);
  if (block === undefined) throw new Error(`a case in the file refers to block ${height}, which is missing`);
  return { signed: parseSignedHeader(block.signed_header), validators: parseValidators(block.validators) };
}

const txResult = z.object({
  code: z.int().min(0),
  data: base64Bytes.nullable(),
  gas_wanted: wholeNumber,
  gas_used: wholeNumber,
});

/** A recorded transaction with its inclusion proof, its block's results, and both headers. */
const txCase = z.object({
  name: z.string(),
  kind: z.literal("tx"),
  chain_id: z.string(),
  tx: z.object({
    hash: hexBytes,
    index: z.int().min(0),
    tx: base64Bytes,
    tx_result: txResult,
    proof: z.object({
      root_hash: hexBytes,
      proof: z.object({
        total: wholeNumber,
        index: wholeNumber,
        leaf_hash: base64Bytes,
        aunts: z.array(base64Bytes),
      }),
    }),
  }),
  block_results: z.object({ txs_results: z.array(txResult).nullable() }),
  block: recordedBlock,
  next_block: recordedBlock,
  expect: z.object({ valid: z.boolean() }),
});

type TxCase = z.output<typeof txCase>;

/** Verifies that a transaction is in its block and succeeded, and that the validators signed both headers. */
function verifyTxCase(recorded: TxCase): ProofResult {
  const common = { name: recorded.name, kind: "transaction", expected: recorded.expect.valid };
  try {
    const error = errorOf(recorded);
    if (error !== undefined) return { ...common, valid: false, detail: error };
  } catch (error) {
    return { ...common, valid: false, detail: errorText(error) };
  }
  const hash = toHex(recorded.tx.hash).toUpperCase();
  return {
    ...common,
    valid: true,
    detail: `transaction ${hash} is in block ${recorded.block.height} and succeeded`,
  };
}

function errorOf(recorded: TxCase): string | undefined {
  const header = signedHeader(recorded, recorded.block);
  const next = signedHeader(recorded, recorded.next_block);
  if (next.height !== header.height + 1n) return "the second header is not at the next height";
  return inclusionError(recorded, header) ?? deliveryError(recorded, next);
}

function signedHeader(recorded: TxCase, block: TxCase["block"]): Header {
  const signed = parseSignedHeader(block.signed_header);
  const validators = parseValidators(block.validators);
  const { header, commit } = signed;
  validateSignedHeader(signed, recorded.chain_id);
  if (!equalBytes(validatorsHash(validators.validators), header.validatorsHash)) {
    throw new Error(`the validator set does not match header ${header.height}`);
  }
  verifyCommitLight(validators, {
    chainId: recorded.chain_id,
    blockId: commit.blockId,
    height: header.height,
    commit,
  });
  return header;
}

function inclusionError({ tx }: TxCase, header: Header): string | undefined {
  const txHash = sha256(tx.tx);
  if (!equalBytes(txHash, tx.hash)) return "the recorded hash is not the transaction's hash";
  if (!equalBytes(tx.proof.root_hash, header.dataHash))
    return "the proof's root is not the header's data hash";
  const { leaf_hash: leafHash, ...rest } = tx.proof.proof;
  const inclusion = verifySimpleProof(header.dataHash, txHash, { ...rest, leafHash });
  if (!inclusion.ok) return `inclusion: ${inclusion.error.text}`;
  return rest.index === BigInt(tx.index) ? undefined : "the proof is for another index in the block";
}

function deliveryError({ tx, block_results: results }: TxCase, next: Header): string | undefined {
  const leaves = (results.txs_results ?? []).map(toLeaf);
  const proof = simpleProofs(leaves).proofs[tx.index];
  if (proof === undefined) return "the block results contain no result for the transaction";
  const delivery = verifySimpleProof(next.lastResultsHash, toLeaf(tx.tx_result), proof);
  if (!delivery.ok) return `delivery: ${delivery.error.text}`;
  return tx.tx_result.code === 0 ? undefined : `the transaction failed with code ${tx.tx_result.code}`;
}

function toLeaf(result: z.output<typeof txResult>): Uint8Array {
  return txResultLeaf({
    code: result.code,
    data: result.data ?? new Uint8Array(),
    gasWanted: result.gas_wanted,
    gasUsed: result.gas_used,
  });
}

const proofCases = z.array(z.discriminatedUnion("kind", [kvCase, txCase])).min(1);

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Reads a file with recorded proofs or light-client cases and verifies each case. Throws for other contents. */
export function verifyProofFile(path: string): readonly ProofResult[] {
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
    return JSON.parse(readTextFile(path, MAX_FILE_BYTES));
  } catch (cause) {
    throw new Error(`${path} cannot be read as JSON`, { cause });
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, json: unknown, path: string): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const where =
    first === undefined || first.path.length === 0 ? "" : ` at ${first.path.map(String).join(".")}`;
  throw new Error(
    `${path} has neither recorded proofs (a list of kv and tx cases) nor light-client cases (blocks and cases)${where}: ${errorText(new Error(first?.message ?? "no case"))}`,
  );
}
