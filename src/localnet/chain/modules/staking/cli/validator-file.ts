import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { parseDec18 } from "../../../../../platform/base/decimal.ts";
import { errorText, EXIT } from "../../../../../platform/base/errors.ts";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import { readTextFile } from "../../../../../platform/base/read-text.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { parseCoin } from "../../../../cli/command-inputs.ts";

/** Upper bound against a wrong file. */
const MAX_BYTES = 64 * 1024;

const optionalText = z.string().optional();

/** The file of `create-validator` of a Cosmos SDK binary. */
const validatorFile = z.strictObject({
  pubkey: z.strictObject({ "@type": z.string(), key: z.string() }),
  amount: z.string().transform(checkedBy(parseCoin)),
  moniker: z.string().min(1),
  identity: optionalText,
  website: optionalText,
  security: optionalText,
  details: optionalText,
  "commission-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-change-rate": z.string().transform(checkedBy(parseRate)),
  "min-self-delegation": z.string().regex(/^\d{1,77}$/, "a whole number in quotes was expected"),
});

/** Reads a validator file. Returns the fields of `MsgCreateValidator` without the address. Throws `CliError` with every wrong field. */
export function readValidatorFile(file: string): JsonObject {
  const parsed = validatorFile.safeParse(readJson(file));
  if (!parsed.success) throw unusable(file, z.prettifyError(parsed.error));
  const { pubkey, amount, moniker, security = "", ...rest } = parsed.data;
  const { identity = "", website = "", details = "" } = rest;
  return {
    description: { moniker, identity, website, security_contact: security, details },
    commission: {
      rate: rest["commission-rate"],
      max_rate: rest["commission-max-rate"],
      max_change_rate: rest["commission-max-change-rate"],
    },
    min_self_delegation: rest["min-self-delegation"],
    pubkey,
    value: amount,
  };
}

function checkedBy<T>(parse: (text: string) => T): (text: string, context: z.RefinementCtx) => T {
  return (text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(errorText(error));
      return z.NEVER;
    }
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_BYTES));
  } catch (error) {
    throw unusable(file, errorText(error));
  }
}

function unusable(file: string, reason: string): CliError {
  return new CliError(EXIT.usage, `cannot use the validator file ${file}: ${reason}`);
}

/** Parses a decimal from 0 to 1 with up to 18 digits. */
export function parseRate(text: string): string {
  try {
    if (parseDec18(text) >= 0n && parseDec18(text) <= parseDec18("1")) return text;
  } catch (error) {
    throw new InvalidArgumentError(errorText(error));
  }
  throw new InvalidArgumentError("a decimal from 0 to 1 such as 0.05 was expected");
}
