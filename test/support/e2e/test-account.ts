import { isRecord } from "../../../src/platform/base/json.ts";
import type { CliHome } from "./cli-process.ts";

/** A test account as `relaywatch localnet accounts --json` prints it. */
export interface TestAccount {
  readonly address: string;
  readonly mnemonic: string;
}

const printed = new WeakMap<CliHome, Promise<string>>();

/** What the command prints; it is always the same. */
function printedAccounts(home: CliHome): Promise<string> {
  const known = printed.get(home) ?? home.run("localnet", "accounts", "--json").then(({ stdout }) => stdout);
  printed.set(home, known);
  return known;
}

/** The test account of this name on a chain. */
export async function testAccount(home: CliHome, name: string, chainId = "local-1"): Promise<TestAccount> {
  const accounts: unknown = JSON.parse(await printedAccounts(home));
  if (!Array.isArray(accounts)) throw new Error("a list of accounts was expected");
  const found: unknown = accounts.find(
    (one: unknown) => isRecord(one) && one["name"] === name && one["chain_id"] === chainId,
  );
  if (!isRecord(found)) throw new Error(`no account is called ${name} on ${chainId}`);
  return { address: String(found["address"]), mnemonic: String(found["mnemonic"]) };
}
