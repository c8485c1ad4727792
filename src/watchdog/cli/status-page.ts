import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { systemClock } from "../../platform/base/clock.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import type { ValidatorData } from "../report/validator-data.ts";
import { firstDayMs } from "../status-page/public-days.ts";
import { exportedStatus } from "../status-page/status-page.ts";
import { publicPage } from "../status-page/public-page.ts";
import { publicJson } from "../status-page/public-status.ts";
import { MAX_SHOWN, type StatusPageConfig, statusPageOf } from "../status-page/status-page-config.ts";
import { type OracleOptions, oracleOptions, readOracle, watchdogConfig } from "./oracle-source.ts";

interface Options extends OracleOptions {
  readonly out: string;
}

/** Creates the command `relaywatch report status-page`, which writes the public status page to files. */
export function statusPageCommand(context: CliContext): Command {
  const command = new Command("status-page")
    .description("write the public status page as files for any web server: index.html and status.json")
    .requiredOption("--out <dir>", "the folder for the files, created if necessary");
  for (const option of oracleOptions()) command.addOption(option);
  return command.action(async (options: Options) => {
    const range = { fromMs: firstDayMs(systemClock.nowMs()), toMs: systemClock.nowMs() };
    const state = await readOracle(options, context, range);
    const status = exportedStatus(await pageConfig(options, state.validators), state);
    const files = [
      ["index.html", publicPage(status, { reloadSeconds: undefined })],
      ["status.json", `${stringifyJson(publicJson(status))}\n`],
    ] as const;
    for (const [name, text] of files) context.print(write(options.out, name, text));
  });
}

/**
 * Returns the `status_page` section from the configuration file. If this section is missing, returns a default that shows all
 * validators without amounts.
 */
async function pageConfig(options: Options, validators: readonly ValidatorData[]): Promise<StatusPageConfig> {
  const { statusPage } = await watchdogConfig(options.config);
  if (statusPage !== undefined) return statusPage;
  if (validators.length > MAX_SHOWN)
    throw new CliError(
      EXIT.usage,
      `a page shows at most ${MAX_SHOWN} validators, but the watchdog has ${validators.length}; select validators under status_page in the configuration, and pass it with --config`,
    );
  const shown = validators.map(({ ledger }) => ({
    name: ledger.validator,
    hasVotes: ledger.months("votes").length > 0,
  }));
  return statusPageOf(undefined, shown);
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
    return path;
  } catch (cause) {
    throw new CliError(EXIT.fatal, `cannot write ${path}: ${errorText(cause)}`, { cause });
  }
}
