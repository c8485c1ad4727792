import { Command } from "commander";
import { counted } from "../../platform/base/text.ts";
import { EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { verifyProofFile, isAsRecorded, type ProofVerdict } from "./proof-file.ts";

/** `relaywatch proof verify FILE…`: verifies recorded proofs and compares each result with the one in the file. */
export function proofCommand(context: CliContext): Command {
  const verify = new Command("verify")
    .description("verify recorded store proofs, transaction proofs and light-client cases")
    .argument("<file...>", "JSON files: lists of kv and tx cases, or light-client blocks and cases")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExits 1 if a result differs from the one recorded in the file.")
    .action((files: readonly string[], options: { readonly json?: true }) =>
      verifyFiles(files, options, context),
    );
  return new Command().addCommand(verify);
}

function verifyFiles(files: readonly string[], options: { readonly json?: true }, context: CliContext): void {
  const verdicts = files.flatMap((file) => verifyProofFile(file).map((verdict) => ({ file, ...verdict })));
  const differing = verdicts.filter((verdict) => !isAsRecorded(verdict));
  if (options.json)
    context.print(
      stringifyJson(
        verdicts.map((verdict) => ({ ...verdict, as_recorded: isAsRecorded(verdict) })),
        2,
      ),
    );
  else printText(verdicts, differing.length, context);
  if (differing.length === 0) return;
  const names = differing.slice(0, 5).map(({ name }) => name);
  throw new CliError(
    EXIT.fatal,
    `${differing.length} of ${counted(verdicts.length, "result")} ${differing.length === 1 ? "differs" : "differ"} from the recorded ones: ${names.join("; ")}`,
  );
}

function printText(
  verdicts: readonly (ProofVerdict & { readonly file: string })[],
  differing: number,
  context: CliContext,
): void {
  for (const verdict of verdicts) {
    const mark = isAsRecorded(verdict)
      ? "as recorded"
      : `DIFFERS: recorded ${verdict.expected ? "valid" : "invalid"}`;
    context.print(
      `${verdict.valid ? "valid  " : "invalid"}  ${verdict.kind}  ${verdict.name}: ${verdict.detail}  [${mark}]`,
    );
  }
  const matching = verdicts.length - differing;
  context.print(`${counted(verdicts.length, "case")}: ${matching} as recorded, ${differing} not`);
}
