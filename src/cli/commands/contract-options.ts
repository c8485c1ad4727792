import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { accountsOf, type ChainProfile, CHAINS } from "../../localnet/accounts/chains.ts";
import type { GenesisContract } from "../../localnet/genesis/scenario-genesis.ts";
import type { ContractWatchOptions } from "../../workbench/contract-watch.ts";
import { errorMessage, EXIT } from "../../platform/base/errors.ts";
import type { JsonValue } from "../../platform/base/json.ts";
import { CliError } from "../../platform/cli/cli-error.ts";

export interface ContractOption {
  readonly file: string;
  init: JsonValue;
  label: string | undefined;
  admin: string;
  migrate: string;
}

/**
 * Adds `--watch` and a repeatable `--contract FILE`. `--init`, `--label`, `--admin` and `--migrate` apply to the `--contract` that
 * they follow. Fills `contracts` in command-line order.
 */
export function addContractOptions(command: Command, contracts: ContractOption[]): void {
  const ofLast =
    (set: (contract: ContractOption, text: string) => void) =>
    (text: string): string => {
      const last = contracts.at(-1);
      if (last === undefined)
        throw new InvalidArgumentError("Put it after the --contract to which it belongs.");
      set(last, text);
      return text;
    };
  const options = [
    new Option(
      "--contract <file>",
      "a contract in the genesis of a new local-1: WebAssembly, plain or gzip; repeatable",
    ).argParser((file) => {
      contracts.push({ file, init: {}, label: undefined, admin: "operator", migrate: "{}" });
      return file;
    }),
    new Option("--init <json>", "message that instantiates the contract; default: {}").argParser(
      ofLast((contract, text) => {
        contract.init = parseInit(text);
      }),
    ),
    new Option("--label <text>", "the contract's label; default: the file's name").argParser(
      ofLast((contract, text) => {
        contract.label = text;
      }),
    ),
    new Option("--admin <name>", "test account that may migrate the contract; default: operator").argParser(
      ofLast((contract, text) => {
        contract.admin = text;
      }),
    ),
    new Option("--migrate <json>", "message for each migration by --watch; default: {}").argParser(
      ofLast((contract, text) => {
        parseInit(text);
        contract.migrate = text;
      }),
    ),
    new Option(
      "--watch",
      "when a contract's file changes, upload it and migrate the contract to the new code",
    ),
  ];
  for (const option of options) command.addOption(option);
}

function parseInit(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (error) {
    throw new InvalidArgumentError(`JSON was expected: ${errorMessage(error)}.`);
  }
}

/** Reads and validates the files. Throws `CliError`. `chain` is the local chain. */
export async function readContracts(
  contracts: readonly ContractOption[],
  chain: ChainProfile = CHAINS.local,
): Promise<GenesisContract[]> {
  if (contracts.length === 0) return [];
  const { readContract } = await import("../../localnet/cli/contract-code.ts");
  const names = accountsOf(chain).map(({ name }) => name);
  if (!names.includes("operator"))
    throw new CliError(EXIT.usage, `--contract needs an account named operator on ${chain.chainId}`);
  return contracts.map(({ file, init, label, admin }) => {
    if (!names.includes(admin))
      throw new CliError(EXIT.usage, `--admin ${admin}: one of ${names.join(", ")} was expected`);
    return {
      code: readContract(file),
      init,
      label: label ?? labelOf(file),
      admin,
    };
  });
}

function labelOf(file: string): string {
  return basename(file).replace(/\.wasm(\.gz)?$/, "");
}

/**
 * Returns the options of the contract watch, or undefined without `--watch`. `report` receives one line per event. Throws
 * `CliError`.
 */
export async function watchedContracts(
  contracts: readonly ContractOption[],
  watch: true | undefined,
  report: (line: string) => void,
): Promise<ContractWatchOptions | undefined> {
  if (watch === undefined) return undefined;
  if (contracts.length === 0) throw new CliError(EXIT.usage, "--watch needs a --contract to follow");
  const labels = contracts.map(({ file, label }) => label ?? labelOf(file));
  if (new Set(labels).size < labels.length)
    throw new CliError(EXIT.usage, "--watch needs contracts with different labels: give each a --label");
  const { readContract } = await import("../../localnet/cli/contract-code.ts");
  return {
    contracts: contracts.map(({ file, label, admin, migrate }) => ({
      file,
      label: label ?? labelOf(file),
      admin,
      migrate,
    })),
    read: readContract,
    report,
  };
}
