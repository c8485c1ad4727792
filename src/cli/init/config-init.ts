import { existsSync, writeFileSync } from "node:fs";
import { Argument, Command, Option } from "commander";
import { systemClock } from "../../platform/base/clock.ts";
import { CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import { isoTime } from "../../platform/base/time.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { openPrompt } from "../../platform/cli/prompt.ts";
import { ConfigError, type ParsedConfig } from "../../platform/config/config.ts";
import { withoutSecrets } from "../../platform/config/config-fields.ts";
import { type ConfigKind, readDaemonConfig } from "../../platform/config/daemon-config.ts";
import { PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { relayerConfigKind } from "../../relayer/config/relayer-config.ts";
import { matrixFindings, matrixText, readEndpointMatrix } from "../../relayer/doctor/endpoint-matrix.ts";
import { watchdogConfigKind } from "../../watchdog/config/config.ts";
import { createChannel } from "../../watchdog/notify/channels/channel-kinds.ts";
import { createPostJson } from "../../watchdog/notify/channels/transport.ts";
import { createSendMail } from "../../watchdog/notify/channels/mail.ts";
import { testChannels } from "../../watchdog/notify/notifier.ts";
import { ASKED, type InitDeps, type InitOptions } from "./init-options.ts";
import { planRelayer } from "./init-relayer.ts";
import { ASKED_WATCHDOG, planWatchdog } from "./init-watchdog.ts";

export function initCommand(context: CliContext): Command {
  return new Command()
    .addArgument(new Argument("<daemon>", "daemon to configure").choices(["relayer", "watchdog"]))
    .option(
      "--rpc <url>",
      "CometBFT RPC URL of the validator's node (watchdog), or of a node on the chain with the queries (relayer)",
    )
    .option("--rest <url>", `${ASKED.rest.meaning} to which --rpc belongs`)
    .option("--chain-id <id>", "the chain's id; required with --offline")
    .option("--remote-rpc <url...>", "relayer: CometBFT RPC URL of a node on each remote chain")
    .option(
      "--connection <id...>",
      "relayer: id of the connection to each remote chain, in the order of --remote-rpc",
    )
    .option(
      "--remote-chain-id <id...>",
      "relayer: id of each remote chain, in the order of --remote-rpc; required with --offline",
    )
    .option("--node <url>", watchdogText("node"))
    .option("--sidecar <url>", watchdogText("sidecar"))
    .option("--second-rest <url>", watchdogText("secondRest"))
    .option("--currency <name>", watchdogText("currency"))
    .option("--runbooks <url>", watchdogText("runbooks"))
    .option("--notify <kind>", `${watchdogText("notify")}; it receives a test message`)
    .option("--set <key=value...>", watchdogText("set"))
    .option("--state-dir <dir>", "the directory for the daemon's state")
    .option("--offline", "do not contact any endpoint")
    .option("-y, --yes", "do not prompt")
    .addOption(new Option("--output <file>", "write the configuration to a new file instead of printing it"))
    .addHelpText(
      "after",
      `
In a terminal, asks for whatever is missing. Discovers the chain id, address prefix, fee denom and fee market,
connections, the revenue module, the validator's addresses and metrics pages, and writes a commented YAML file. Exits 75 when
an endpoint does not respond, or the channel does not accept the test message.`,
    )
    .action((daemon: "relayer" | "watchdog", options: InitOptions) => init(daemon, options, context));
}

function watchdogText(key: keyof typeof ASKED_WATCHDOG): string {
  const { meaning, example } = ASKED_WATCHDOG[key];
  return `watchdog: ${meaning}, e.g. ${example}`;
}

async function init(
  daemon: "relayer" | "watchdog",
  options: InitOptions,
  context: CliContext,
): Promise<void> {
  if (options.output !== undefined && existsSync(options.output))
    throw new CliError(EXIT.usage, `${options.output} already exists; name a new file with --output`);
  const { ask, close } = createQuestions(options);
  try {
    const deps = { ask, signal: context.signal };
    const lines = await (daemon === "relayer" ? planRelayer(options, deps) : planWatchdog(options, deps));
    const text = [...headOf(daemon, options.output), ...lines, ""].join("\n");
    check(daemon, text);
    // The findings are printed after the file's path or, if the file itself is printed, as comments in it.
    const found =
      options.offline === true
        ? undefined
        : await (daemon === "relayer" ? matrixOf(text, context) : testOf(text, context));
    const isPrinted = options.output === undefined && found !== undefined;
    write(isPrinted ? `${text}${found.replaceAll(/^/gm, "# ")}\n` : text, options.output, context);
    if (!isPrinted && found !== undefined) context.print(`\n${found}`);
  } finally {
    close();
  }
}

/** Queries what each endpoint in a new relayer configuration supports, like `relayer doctor`. */
async function matrixOf(text: string, context: CliContext): Promise<string> {
  const { config } = withoutSecrets(() => readNew(relayerConfigKind(), text));
  const logger = await context.logger("error");
  const rows = await readEndpointMatrix(
    { ...config, deadlines: { ...config.deadlines, call: PROBE_MS } },
    { clock: systemClock, random: Math.random, logger },
    context.signal,
  );
  const gaps = matrixFindings(rows, config.chain.id).map(
    ({ subject, text: found }) => `${subject}: ${found}`,
  );
  return [matrixText(rows), ...gaps].join("\n");
}

/** Sends a test message to the channel in a new watchdog configuration. Throws a `CliError` if the channel rejects it. */
async function testOf(text: string, context: CliContext): Promise<string | undefined> {
  if (withoutSecrets(() => readNew(watchdogConfigKind, text)).config.notify.channels.length === 0)
    return undefined;
  try {
    const { notify } = readNew(watchdogConfigKind, text).config;
    const transports = { post: createPostJson(), mail: createSendMail() };
    const channels = notify.channels.map((one) => createChannel(one, transports));
    const test = {
      clock: systemClock,
      reason: "relaywatch config init tries the channel",
      links: { runbooks: notify.runbooks },
    };
    const [result] = await testChannels(channels, test, context.signal);
    if (result === undefined || result.error === null)
      return `The channel ${result?.channel} accepted a test message: look for it.`;
    const failed = `--notify: the channel ${result.channel} did not accept the test message: ${result.error}; nothing is written`;
    throw new CliError(EXIT.tryAgain, failed);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return `No test message was sent: ${errorText(error)}. Set it, and run relaywatch alerts test.`;
  }
}

const PROBE_MS = 3_000;

/** Creates the functions that ask questions on stderr, so that stdout contains only the file. */
function createQuestions({ yes }: InitOptions): {
  readonly ask: InitDeps["ask"];
  readonly close: () => void;
} {
  if (yes === true || !process.stdin.isTTY) return { ask: async () => undefined, close: () => {} };
  const prompt = openPrompt();
  return {
    ask: async (question, initial) => {
      const line = await prompt.answer(`${question}${initial === undefined ? "" : ` [${initial}]`}: `);
      if (line === undefined) throw new CliError(EXIT.fatal, "stopped; nothing is written");
      return line.trim() === "" ? initial : line.trim();
    },
    close: prompt.close,
  };
}

function headOf(daemon: "relayer" | "watchdog", output = "FILE"): readonly string[] {
  const example = daemon === "relayer" ? "icq-relayer" : "oracle-watchdog";
  return [
    `# Written by relaywatch config init on ${isoTime(Date.now()).slice(0, 10)}. All keys: config/${example}.example.yaml`,
    `#   relaywatch config validate ${output}`,
    daemon === "relayer"
      ? `#   relaywatch relayer doctor --config ${output}`
      : `#   relaywatch watchdog start --config ${output}`,
    "",
  ];
}

/** Throws a `CliError` that lists the missing options unless the daemon accepts the file. */
function check(daemon: "relayer" | "watchdog", text: string): void {
  try {
    withoutSecrets(() =>
      daemon === "relayer" ? readNew(relayerConfigKind(), text) : readNew(watchdogConfigKind, text),
    );
  } catch (cause) {
    throw new CliError(EXIT.usage, `the settings are not usable: ${errorText(cause)}`, { cause });
  }
}

/** Parses a configuration that is not yet in a file, ignoring environment variables. Throws `ConfigError`. */
function readNew<Config>(kind: ConfigKind<Config>, text: string): ParsedConfig<Config> {
  return readDaemonConfig(kind, { file: "new file", text }, {});
}

function write(text: string, output: string | undefined, context: CliContext): void {
  if (output === undefined) return context.print(text.trimEnd());
  writeFileSync(output, text, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  context.print(`written to ${output}`);
}
