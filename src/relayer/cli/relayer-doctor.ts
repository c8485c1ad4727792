import { Command } from "commander";
import pc from "picocolors";
import { EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { Finding } from "../doctor/finding.ts";
import { runDoctor } from "../doctor/run-doctor.ts";
import { openPreview } from "../preview/open-preview.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";

interface Options extends RelayerConfigOptions {
  readonly json?: true;
}

/** `relaywatch relayer doctor`. */
export function doctorCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nSends nothing. Exits 0 when all is well, 1 for a problem, 3 when something cannot be read.",
    )
    .action((options: Options) => examine(options, context));
}

async function examine(options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const preview = await openPreview(selected.config, await relayerContext(selected, "error", context));
  try {
    const findings = await runDoctor(preview, context.signal);
    if (options.json) context.print(stringifyJson(findings.map(toJson), 2));
    else for (const finding of findings) context.print(toText(finding, context.isTerminal));
    requireHealthy(findings);
  } finally {
    preview.close();
  }
}

function requireHealthy(findings: readonly Finding[]): void {
  const count = (verdict: Finding["verdict"]): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, unseen] = [count("problem"), count("unseen")];
  if (problems > 0)
    throw new CliError(EXIT.fatal, `${problems} of ${findings.length} checks found a problem`);
  if (unseen > 0)
    throw new CliError(EXIT.unseen, `${unseen} of ${findings.length} checks could not read what they need`);
}

function toText({ subject, verdict, text, advice }: Finding, colours: boolean): string {
  const paint = pc.createColors(colours);
  const marks = {
    good: paint.green("good   "),
    problem: paint.red("PROBLEM"),
    unseen: paint.yellow("unseen "),
  };
  return `${marks[verdict]}  ${subject}: ${text}${advice === undefined ? "" : `\n         → ${advice}`}`;
}

function toJson({ subject, verdict, text, advice }: Finding) {
  return { subject, verdict, text, advice: advice ?? null };
}
