/** A command in runbooks, with the parts that its output always contains. */
export interface RunbookCommand {
  /** "relaywatch why". Ports are those of the defaults. */
  readonly line: string;
  /** Exit codes: 0 fine, 1 problem, 3 cannot see. */
  readonly exits: readonly number[];
  /** Parts of the output in every state. Samples have them too. */
  readonly always: readonly string[];
}

/** All commands of the runbooks, by a short name. A test runs each one against a localnet. */
export const COMMANDS = {
  why: command("relaywatch why", [0, 1, 3], ["Why\n===\n", "Misses of this month"]),
  status: command(
    "relaywatch status",
    [0, 1, 3],
    ["Oracle status, ", "Last poll: ", "Full pay is lost after an outage of"],
  ),
  forecast: command("relaywatch forecast", [0, 1, 3], ["Forecast of ", "Expected", "Rotation: "]),
  whatIf: command(
    "relaywatch what-if --outage 1h",
    [0, 1, 3],
    ["What if: an outage of 1 h, now", "Tier without"],
  ),
  alerts: command("relaywatch alerts list", [0], []),
  alertsTest: command("relaywatch alerts test", [0, 1], []),
  report: command("relaywatch report oracle", [0, 1, 3], ["Oracle report of ", "Validator"]),
  handover: command(
    "relaywatch report handover --since 12h",
    [0, 1, 3],
    ["Handover, ", "The shift", "Timeline (UTC)"],
  ),
  doctor: command("relaywatch relayer doctor", [0, 1, 3], ["account: ", "balance: ", "light client: "]),
  queries: command("relaywatch relayer queries", [0, 1], ["connection", "late", "error"]),
  overdue: command("relaywatch relayer queries --overdue", [0, 1], ["connection", "late", "error"]),
  inspect: command("relaywatch relayer inspect 1", [0, 1], ["attempts:"]),
  deadLetters: command("relaywatch relayer dead-letters list", [0, 1], []),
  relayerReport: command(
    "relaywatch report relayer",
    [0, 1, 3],
    ["Relayer, ", "Cost by owner", "Dead letters"],
  ),
  relayerSpending: command(
    "relaywatch report relayer --by owner",
    [0, 1, 3],
    ["Relayer's spending by owner", "Forecast", "What comes back"],
  ),
  market: command(
    "curl -s http://127.0.0.1:9999/metrics | grep -E '^relaywatch_relayer_(gas_price|market_gas|market_results|expected_late)'",
    [0],
    ['relaywatch_relayer_gas_price{kind="minimum"}', 'relaywatch_relayer_market_gas{kind="target"}'],
  ),
  ready: command("curl -s http://127.0.0.1:9999/readyz", [0], []),
  watchdogReady: command("curl -s http://127.0.0.1:9998/readyz", [0], []),
  prices: command("curl -s -m 3 http://127.0.0.1:8080/connect/oracle/v2/prices", [0, 7, 28], []),
  calls: command(
    "curl -s -m 3 http://127.0.0.1:26660/metrics | grep app_oracle_responses",
    [0],
    ["app_oracle_responses"],
  ),
  abci: command(
    'curl -s -m 3 http://127.0.0.1:26660/metrics | grep "app_abci_requests.*extend_vote"',
    [0],
    ["extend_vote"],
  ),
  signed: command(
    "curl -s -m 3 http://127.0.0.1:26660/metrics | grep -E 'latest_block_height|last_signed_height|validator_power'",
    [0],
    ["latest_block_height"],
  ),
  nodeStatus: command(
    "curl -s -m 3 http://127.0.0.1:26657/status | grep -E 'latest_block_height|catching_up'",
    [0],
    ["latest_block_height"],
  ),
  sidecar: command(
    "curl -s -m 3 http://127.0.0.1:8002/metrics | grep -E 'system_updates|read_success'",
    [0],
    ["system_updates"],
  ),
  watchdogMetrics: command(
    "curl -s http://127.0.0.1:9998/metrics | grep oracle_watchdog_source_up",
    [0],
    ["oracle_watchdog_source_up"],
  ),
  attempts: command(
    "curl -s http://127.0.0.1:9998/metrics | grep oracle_watchdog_last_poll",
    [0],
    ["oracle_watchdog_last_poll"],
  ),
} as const;

/** Name of a command in {@link COMMANDS}. */
export type CommandName = keyof typeof COMMANDS;

/** One step of a diagnosis: what to look for, and the command that shows it with a sample of its output. */
export interface Check {
  readonly text: string;
  readonly run?: CommandName;
  readonly sample?: string;
}

/** The parts of a runbook that differ between alerts. */
export interface RunbookBody {
  /** The reason that `relaywatch why` prints (watchdog alerts only). */
  readonly reason?: string;
  /** Localnet fault that makes the alert fire. */
  readonly fault?: string;
  readonly checks: readonly Check[];
  readonly fix: readonly string[];
  readonly after: readonly string[];
}

/** Returns a step with a command. */
export function see(text: string, run: CommandName, sample: string): Check {
  return { text, run, sample };
}

/** Returns a step without a command. */
export function check(text: string): Check {
  return { text };
}

function command(line: string, exits: readonly number[], always: readonly string[]): RunbookCommand {
  return { line, exits, always };
}

/** The texts of a runbook. Links and code are Markdown. */
export interface RunbookTexts {
  /** Without a full stop. */
  readonly title: string;
  readonly meaning: string;
  readonly impact: string;
  readonly checks: readonly Check[];
  readonly body: RunbookBody;
}

/** Formats a runbook as Markdown, from its title to what follows the mitigation. */
export function runbookText({ title, meaning, impact, checks, body }: RunbookTexts): string {
  return [
    `# ${title}`,
    "## Meaning",
    meaning,
    "## Impact",
    impact,
    "## Diagnosis",
    ...checks.map((one, index) => step(one, index + 1)),
    "## Mitigation",
    body.fix.map((text, index) => `${index + 1}. ${text}`).join("\n"),
    "## Afterwards",
    body.after.map((text) => `- ${text}`).join("\n"),
    ...(body.fault === undefined ? [] : [rehearsal(body.fault)]),
  ].join("\n\n");
}

function step({ text, run, sample }: Check, number: number): string {
  if (run === undefined) return `${number}. ${text}`;
  const output = sample === undefined ? "" : `\n\n   \`\`\`text\n${indent(sample)}\n   \`\`\``;
  return `${number}. ${text}\n\n   \`\`\`sh\n${indent(COMMANDS[run].line)}\n   \`\`\`${output}`;
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : `   ${line}`))
    .join("\n");
}

function rehearsal(fault: string): string {
  return `To rehearse it on a localnet: \`relaywatch localnet fault ${fault}\`, and \`relaywatch localnet fault --off\` to end it.`;
}
