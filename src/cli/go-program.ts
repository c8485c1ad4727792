import { Command } from "commander";
import type { CliContext } from "../platform/cli/cli-context.ts";
import { waitOption } from "../platform/cli/options.ts";
import { readBuildInfo } from "../platform/process/build-info.ts";
import { listLetters, parseLetterName, sendLetter, urlOption } from "../relayer/cli/api-commands.ts";
import { withSettings } from "./program.ts";

interface UrlOptions {
  readonly url: string;
  readonly tokenFile?: string;
}

/**
 * Creates a command line like the Go relayer's (v0.3.0) for existing scripts, images and service files. It has the commands `start`,
 * `query unsuccessful-txs`, `exec resubmit-tx` and `version`, and reads all settings from the environment.
 */
export async function createGoProgram(context: CliContext): Promise<Command> {
  const query = new Command("query").description("query a running relayer").addCommand(
    withUrl(new Command("unsuccessful-txs"))
      .description("print the transactions that could not be submitted, as JSON")
      .action(({ url }: UrlOptions) => listLetters({ url, json: true }, context)),
  );
  const exec = new Command("exec").description("send a command to a running relayer").addCommand(
    withUrl(new Command("resubmit-tx"))
      .argument("<query-id>")
      .argument("<hash>")
      .option("--token-file <file>", "file with the relayer's bearer token")
      .description("send an unsuccessful transaction again")
      .action((id: string, hash: string, options: UrlOptions) => resubmit(id, hash, options, context)),
  );
  return withSettings(
    new Command("neutron_query_relayer")
      .description("Relaywatch with the Go relayer's commands; relaywatch --help lists all commands")
      .addCommand(startCommand(context))
      .addCommand(query)
      .addCommand(exec)
      .addCommand(versionCommand(context)),
  );
}

function withUrl(command: Command): Command {
  return command.addOption(urlOption("-u, --url <url>").default("http://localhost:9999"));
}

function startCommand(context: CliContext): Command {
  return new Command("start")
    .description("run the relayer with the RELAYER_* and LOGGER_* environment variables")
    .addOption(waitOption())
    .action(async (options: { readonly wait?: number }) => {
      const { startRelayer } = await import("./commands/relayer-start.ts");
      await startRelayer({ fromEnv: true, portOffset: 0, ...options }, context);
    });
}

async function resubmit(id: string, hash: string, options: UrlOptions, context: CliContext): Promise<void> {
  const { url, tokenFile } = options;
  await sendLetter(parseLetterName(`${id}/${hash}`), { url, tokenFile }, context.signal);
  context.print(`Tx queryID=${id} hash=${hash} resubmitted successfully`);
}

function versionCommand(context: CliContext): Command {
  return new Command("version").description("print version and commit").action(() => {
    const { name, version, commit } = readBuildInfo();
    context.print(`Version: ${version} (${name})\nCommit: ${commit ?? "unknown"}`);
  });
}
