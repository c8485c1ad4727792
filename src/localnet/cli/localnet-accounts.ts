import { Command } from "commander";
import { stringifyJson } from "../../platform/base/json.ts";
import { type Ports, portsAt } from "../../platform/base/localnet-defaults.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import {
  accountsOf,
  type ChainProfile,
  CHAINS,
  type LocalnetAccount,
  localnetAccounts,
} from "../accounts/chains.ts";
import { chainsOf } from "./load-chain-config.ts";

export function accountsCommand(context: CliContext): Command {
  const command = new Command()
    .option("--chain-config <file>", "the localnet's configuration file")
    .addOption(jsonOption());
  return command.action(async (options: { readonly json?: true; readonly chainConfig?: string }) => {
    const accounts = localnetAccounts(await chainsOf(options.chainConfig));
    if (options.json) context.print(stringifyJson(accounts.map(toJson), 2));
    else printAccounts(accounts, context);
  });
}

function toJson({ name, address, mnemonic, hdPath, chainId, coins, gasPrice }: LocalnetAccount) {
  return {
    name,
    address,
    mnemonic,
    hd_path: hdPath,
    chain_id: chainId,
    coins: coins.map(({ denom, amount }) => ({ denom, amount })),
    gas_price: { denom: gasPrice.denom, amount: gasPrice.amount },
  };
}

function printAccounts(accounts: readonly LocalnetAccount[], context: CliContext): void {
  context.print("PUBLIC TEST KEYS: anyone can spend from these accounts");
  for (const { chainId, name, address, mnemonic, hdPath, coins, gasPrice } of accounts) {
    const amounts = coins.map(({ denom, amount }) => `${amount}${denom}`).join(", ");
    context.print(`${chainId}  ${name}  ${address}
    coins: ${amounts}  gas price: ${gasPrice.amount}${gasPrice.denom} or more  HD path: ${hdPath}
    ${mnemonic}`);
  }
}

interface KeplrOptions {
  readonly chainConfig?: string;
  readonly portOffset: number;
}

export function keplrCommand(context: CliContext): Command {
  const command = new Command()
    .option("--chain-config <file>", "the localnet's configuration file")
    .addOption(portOffsetOption())
    .addHelpText("after", KEPLR_HELP);
  return command.action(async ({ chainConfig, portOffset }: KeplrOptions) => {
    const { chains, ports } = await localnetOf(chainConfig, portOffset);
    const described = [chains.local, chains.remote].map((chain) => chainInfo(chain, ports));
    context.print(stringifyJson(described, 2));
  });
}

const KEPLR_HELP = `
The output is a list. A page adds each chain to the wallet with window.keplr.experimentalSuggestChain(chain); Leap and Cosmostation
accept the same description.`;

async function localnetOf(file: string | undefined, portOffset: number) {
  if (file === undefined) return { chains: CHAINS, ports: portsAt(portOffset) };
  const { readChainConfig } = await import("./load-chain-config.ts");
  return readChainConfig(file, portOffset);
}

/** HD coin type of the test accounts. */
const COIN_TYPE = 118;
const DECIMALS = 6;

/** Feature flags that tell Keplr what localnet chains support. With `feemarket`, Keplr reads gas prices from the fee market. */
const FEATURES = ["ibc-go", "ibc-transfer", "feemarket", "query:/cosmos/bank/v1beta1/spendable_balances"];

/** Describes a chain in the format that Keplr expects. */
function chainInfo(chain: ChainProfile, ports: Ports) {
  const { part, chainId, bech32Prefix: prefix } = chain;
  const port = { rpc: ports[`${part}Rpc`], rest: ports[`${part}Rest`] };
  const currency = currencyOf(chain);
  return {
    chainId,
    chainName: `${chainId} (localnet)`,
    rpc: `http://127.0.0.1:${port.rpc}`,
    rest: `http://127.0.0.1:${port.rest}`,
    bip44: { coinType: COIN_TYPE },
    bech32Config: {
      bech32PrefixAccAddr: prefix,
      bech32PrefixAccPub: `${prefix}pub`,
      bech32PrefixValAddr: `${prefix}valoper`,
      bech32PrefixValPub: `${prefix}valoperpub`,
      bech32PrefixConsAddr: `${prefix}valcons`,
      bech32PrefixConsPub: `${prefix}valconspub`,
    },
    currencies: [currency],
    feeCurrencies: [{ ...currency, gasPriceStep: gasPrices(chain) }],
    stakeCurrency: currency,
    features: [...FEATURES, ...(part === "local" ? ["cosmwasm", "wasmd_0.24+"] : [])],
  };
}

/** Shows "untrn" as NTRN with six decimals. A denomination that does not start with "u" is shown unchanged. */
function currencyOf({ denom }: ChainProfile) {
  const [, name] = /^u([a-z]+)$/.exec(denom) ?? [];
  return name === undefined
    ? { coinDenom: denom, coinMinimalDenom: denom, coinDecimals: 0 }
    : { coinDenom: name.toUpperCase(), coinMinimalDenom: denom, coinDecimals: DECIMALS };
}

/** Returns the low, average and high gas prices that Keplr offers: one, two and four times the chain's minimum gas price. */
function gasPrices(chain: ChainProfile) {
  const low = Number(accountsOf(chain)[0]?.gasPrice.amount ?? 0);
  return { low, average: low * 2, high: low * 4 };
}
