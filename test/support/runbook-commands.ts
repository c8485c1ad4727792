import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readRunbook } from "../../src/cli/generate/runbook-text.ts";

const FOLDER = new URL("../../alerts/runbooks", import.meta.url).pathname;

/** All runbooks by name: the file, and its parts. */
export const RUNBOOKS = readdirSync(FOLDER).map((name) => {
  const file = readFileSync(join(FOLDER, name), "utf8");
  return { name: name.replace(/\.md$/, ""), file, ...readRunbook(file) };
});

/** The page about all alerts, with samples of the commands that many runbooks use. */
export const ALERTS_PAGE = {
  name: "README",
  ...readRunbook(readFileSync(join(FOLDER, "../README.md"), "utf8")),
};

/** A command in runbooks, with the parts that its output always contains. */
interface RunbookCommand {
  /** "relaywatch why". Ports are those of the defaults. */
  readonly line: string;
  /** Exit codes: 0 fine, 1 problem, 3 cannot see. */
  readonly exits: readonly number[];
  /** Parts of the output in every state, and of its sample. */
  readonly always: readonly string[];
}

/** All commands in blocks of the runbooks. `test/stack/runbooks.test.ts` runs each one against a localnet. */
export const COMMANDS: readonly RunbookCommand[] = [
  command("relaywatch why", [0, 1, 3], ["Why\n===\n", "Misses of this month"]),
  command(
    "relaywatch status",
    [0, 1, 3],
    ["Oracle status, ", "Last poll: ", "Full pay is lost after an outage of"],
  ),
  command("relaywatch forecast", [0, 1, 3], ["Forecast of ", "Expected", "Rotation: "]),
  command("relaywatch what-if --outage 1h", [0, 1, 3], ["What if: an outage of 1 h, now", "Tier without"]),
  command("relaywatch alerts list", [0], []),
  command("relaywatch alerts test", [0, 1], []),
  command("relaywatch alerts dead-letters", [0, 1], []),
  command("relaywatch alerts dead-letters --resend", [0], ["sent again"]),
  command("relaywatch alerts dead-letters --discard", [0], ["dropped"]),
  command("relaywatch report oracle", [0, 1, 3], ["Oracle report of ", "Validator"]),
  command("relaywatch report handover --since 12h", [0, 1, 3], ["Handover, ", "The shift", "Timeline (UTC)"]),
  command("relaywatch relayer doctor", [0, 1, 3], ["account: ", "balance: ", "light client: "]),
  command("relaywatch relayer queries", [0, 1], ["connection", "late", "error"]),
  command("relaywatch relayer queries --overdue", [0, 1], ["connection", "late", "error"]),
  command("relaywatch relayer inspect 1", [0, 1], ["attempts:"]),
  command("relaywatch relayer dead-letters list", [0, 1], []),
  command("relaywatch report relayer", [0, 1, 3], ["Relayer, ", "Cost by owner", "Dead letters"]),
  command(
    "relaywatch report relayer --by owner",
    [0, 1, 3],
    ["Relayer's spending by owner", "Forecast", "What comes back"],
  ),
  command(
    "curl -s http://127.0.0.1:9999/metrics | grep -E '^relaywatch_relayer_(gas_price|market_gas|market_results|expected_late)'",
    [0],
    ['relaywatch_relayer_gas_price{kind="minimum"}', 'relaywatch_relayer_market_gas{kind="target"}'],
  ),
  command("curl -s http://127.0.0.1:9999/readyz", [0], []),
  command("curl -s http://127.0.0.1:9998/readyz", [0], []),
  command("curl -s -m 3 http://127.0.0.1:8080/connect/oracle/v2/prices", [0, 7, 28], []),
  command(
    "curl -s -m 3 http://127.0.0.1:26660/metrics | grep app_oracle_responses",
    [0],
    ["app_oracle_responses"],
  ),
  command(
    'curl -s -m 3 http://127.0.0.1:26660/metrics | grep "app_abci_requests.*extend_vote"',
    [0],
    ["extend_vote"],
  ),
  command(
    "curl -s -m 3 http://127.0.0.1:26660/metrics | grep -E 'latest_block_height|last_signed_height|validator_power'",
    [0],
    ["latest_block_height"],
  ),
  command(
    "curl -s -m 3 http://127.0.0.1:26657/status | grep -E 'latest_block_height|catching_up'",
    [0],
    ["latest_block_height"],
  ),
  command(
    "curl -s -m 3 http://127.0.0.1:8002/metrics | grep -E 'system_updates|read_success'",
    [0],
    ["system_updates"],
  ),
  command(
    "curl -s http://127.0.0.1:9998/metrics | grep oracle_watchdog_source_up",
    [0],
    ["oracle_watchdog_source_up"],
  ),
  command(
    "curl -s http://127.0.0.1:9998/metrics | grep oracle_watchdog_last_poll",
    [0],
    ["oracle_watchdog_last_poll"],
  ),
];

function command(line: string, exits: readonly number[], always: readonly string[]): RunbookCommand {
  return { line, exits, always };
}
