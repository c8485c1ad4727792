import { z } from "zod";
import { parseRfc3339Ns } from "../../platform/base/time.ts";
import type { SignedHeader, ValidatorSet } from "../comet/block-types.ts";
import { CometError } from "../comet/comet-error.ts";
import { verifyHeader } from "../comet/light-client.ts";
import { parseSignedHeader, parseValidators } from "../comet/rpc-parse.ts";
import type { ProofVerdict } from "./proof-verdict.ts";
import { recordedBlock, wholeNumber } from "./recorded-json.ts";

const NS_PER_SECOND = 1_000_000_000n;
const TRUST_LEVEL = { numerator: 1n, denominator: 3n };

/** Recorded blocks, and pairs of them with the expected verdict of a light client. */
export const lightClientFile = z.object({
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
export function verifyLightClientFile(file: LightClientFile): readonly ProofVerdict[] {
  const blocks = new Map(file.blocks.map((block) => [block.height, block]));
  return file.cases.map((one) => verifyCase(file, blocks, one));
}

function verifyCase(
  file: LightClientFile,
  blocks: ReadonlyMap<bigint, LightClientFile["blocks"][number]>,
  one: LightClientCase,
): ProofVerdict {
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
  if (block === undefined) throw new Error(`a case of the file refers to block ${height}, which is missing`);
  return { signed: parseSignedHeader(block.signed_header), validators: parseValidators(block.validators) };
}
