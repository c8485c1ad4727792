import { z } from "zod";
import { parseDec18 } from "../../platform/base/decimal.ts";
import { DEFAULT_PORTS, type Ports } from "../../platform/base/localnet-defaults.ts";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import type { ConfigKind } from "../../platform/config/daemon-config.ts";
import type { GasPrice } from "../chain/modules/feemarket/module.ts";
import { parseAddress } from "../chain/runtime/address.ts";
import { DEFAULT_QUERY_TIME_MS } from "../node/base/deadline.ts";
import { PROFILE_NAMES } from "../chain/deviations/deviations.ts";
import { isDenom } from "../chain/runtime/coins.ts";
import { type ChainPart, CHAINS, DEFAULT_ROLES, type DenomAmount, TEST_BALANCE } from "../accounts/chains.ts";

const COIN = /^(\d{1,78})([a-zA-Z].*)$/;

function coinField() {
  return z.string().transform((text, context): DenomAmount => {
    const [, amount = "", denom = ""] = COIN.exec(text) ?? [];
    if (isDenom(denom)) return { denom, amount: BigInt(amount).toString() };
    context.addIssue(issueText("is not an amount with a denomination", 'text, e.g. "1000000untrn"'));
    return z.NEVER;
  });
}

function priceField() {
  return z.string().transform((text, context): GasPrice => {
    const [, amount = "", denom = ""] = /^(\d{1,20}(?:\.\d{1,18})?)([a-zA-Z].*)$/.exec(text) ?? [];
    if (isDenom(denom)) return { denom, amount: parseDec18(amount) };
    context.addIssue(issueText("is not a price", 'text, e.g. "0.0025untrn"'));
    return z.NEVER;
  });
}

const portNumber = z.int().min(1).max(65_535);

const PORT_TEXTS = {
  localRpc: "port for the local chain's RPC and WebSocket",
  localRest: "port for the local chain's REST API",
  localGrpc: "port for the local chain's gRPC",
  localMetrics: "port for the local node's metrics page",
  remoteRpc: "port for the remote chain's RPC and WebSocket",
  remoteRest: "port for the remote chain's REST API",
  remoteGrpc: "port for the remote chain's gRPC",
  prices: "port for the sidecar's price API",
  oracleMetrics: "port for the sidecar's price metrics",
  sidecarMetrics: "port for the metrics of the sidecar's own process",
  relayer: "port of the interchain query relayer that relaywatch up runs",
  watchdog: "port of the oracle watchdog that relaywatch up runs",
  control: "port for the control API",
  sidecarControl: "port for the control API of a sidecar in a separate process",
} satisfies Readonly<Record<keyof Ports, string>>;

/** Converts the name of a port to its key in a chain file, for example `localRpc` to `local_rpc`. */
export function keyOfPort(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const DEFAULT_PORTS_BY_NAME = new Map<string, number>(Object.entries(DEFAULT_PORTS));

const ports = z.strictObject(
  Object.fromEntries(
    Object.entries(PORT_TEXTS).map(([name, text]) => [
      keyOfPort(name),
      portNumber.default(DEFAULT_PORTS_BY_NAME.get(name) ?? 0).describe(text),
    ]),
  ),
);

const account = z.strictObject({
  name: z
    .string()
    .regex(/^[\w-]{1,50}$/)
    .describe("account name, which other keys in this file and the option --from accept"),
  mnemonic: z
    .string()
    .min(1)
    .describe("the key's mnemonic; anyone who can read the file can spend from the account"),
  balances: z
    .array(coinField())
    .optional()
    .describe(`amounts with their denominations; default: ${TEST_BALANCE} of the chain's denomination`),
});

const validator = z.strictObject({
  power: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .describe("the validator's voting power. One unit of power is a stake of 1,000,000 base units"),
  operator: z
    .string()
    .optional()
    .describe(
      "name or address of the account that operates the validator; default: an account without a key",
    ),
});

const moduleState = z.record(z.string(), z.record(z.string(), z.unknown()));

function chainFields(part: ChainPart) {
  const chain = CHAINS[part];
  const [first = ""] = chain.settings.operators;
  const accounts = chain.keys.map(({ name, mnemonic }) => ({ name, mnemonic }));
  return {
    chain_id: z
      .string()
      .regex(/^[\w-]{1,50}$/)
      .default(chain.chainId)
      .describe("the chain's id"),
    bech32_prefix: z
      .string()
      .regex(/^[a-z]{1,20}$/)
      .default(chain.bech32Prefix)
      .describe("account address prefix"),
    denom: z
      .string()
      .refine(isDenom, { error: issueText("is not a denomination", 'text, e.g. "untrn"') })
      .default(chain.denom)
      .describe("the chain's denomination for stake, fees and deposits"),
    accounts: z
      .array(account)
      .min(1)
      .max(1_000)
      .prefault(accounts)
      .describe("genesis accounts, in account number order")
      .meta({ initial: accounts }),
    denom_metadata: z
      .array(z.record(z.string(), z.unknown()))
      .max(1_000)
      .default([])
      .describe("denomination metadata, as in the bank module"),
    min_gas_prices: z
      .array(priceField())
      .max(100)
      .prefault([])
      .meta({ initial: [] })
      .describe(
        'minimum gas prices while the fee market is disabled (modules.feemarket.params.enabled: false), e.g. "0.0025untrn". The mempool accepts a transaction that pays any of these prices',
      ),
    simulation_gas: z
      .string()
      .regex(/^[1-9]\d{0,17}$/)
      .transform((text) => BigInt(text))
      .optional()
      .describe("maximum gas of a simulation; default: the fee market's limit per block")
      .meta({ commentedOut: true, example: "30000000" }),
    query_time: durationField(10)
      .prefault(`${DEFAULT_QUERY_TIME_MS}ms`)
      .describe(
        "maximum processor time for a query or simulation. During a query or simulation, the node handles no other requests and makes no blocks",
      ),
    validators: z
      .array(validator)
      .min(1)
      .max(200)
      .default([{ power: 10, operator: first }])
      .describe("genesis validators, in creation order"),
    genesis_transactions: z
      .boolean()
      .default(false)
      .describe(
        "if true, genesis transactions create the validators after the genesis of all modules, so that contracts receive the staking hooks; if false, the staking genesis contains the validators",
      ),
    consensus: z
      .strictObject({
        max_bytes: whole(chain.settings.consensusParams.maxBytes).describe("maximum bytes per block"),
        max_gas: whole(chain.settings.consensusParams.maxGas).describe(
          'maximum gas per block; "-1": no limit',
        ),
      })
      .prefault({})
      .describe("consensus parameters"),
    modules: moduleState
      .default({})
      .describe(
        "genesis state by module name, added to the state that other keys define. Missing params get the module's default values. In wasm.gen_msgs, set wasm_byte_code to file:NAME to insert the file's content",
      ),
    modules_from: z
      .strictObject({
        file: z.string().min(1).describe("path of a genesis document in JSON"),
        modules: z
          .array(z.string().min(1))
          .min(1)
          .describe("names of the modules whose genesis state is read from the file"),
      })
      .optional()
      .describe("modules whose genesis is copied from a genesis file; the setting modules takes precedence")
      .meta({ commentedOut: true, example: { file: "genesis.json", modules: ["wasm", "harpoon"] } }),
  };
}

function whole(initial: bigint) {
  return z
    .string()
    .regex(/^-?\d{1,18}$/)
    .prefault(initial.toString())
    .transform((text) => BigInt(text))
    .meta({ initial: initial.toString() });
}

const name = z.string().min(1);

const fileSchema = z.strictObject({
  profile: z
    .enum(PROFILE_NAMES)
    .default("specification")
    .describe(
      "behaviour of both chains where the specification and the deployed chain differ. The command relaywatch localnet profile lists the differences",
    ),
  block_time: durationField(50).prefault("1s").describe("time between two blocks"),
  code_dir: z
    .string()
    .min(1)
    .default(".")
    .describe(
      "folder with the contract code files to which file:NAME refers. The path is relative to the chain file's folder or to --chain-dir",
    ),
  ports: ports.prefault({}).describe("ports on this machine, to which --port-offset is added"),
  relayers: z
    .strictObject({
      icq: name
        .default(DEFAULT_ROLES.icqRelayer)
        .describe("local-chain account that signs for the relayer in relaywatch up"),
      ibc_local: name
        .default(DEFAULT_ROLES.ibcRelayer.local)
        .describe("local-chain account that signs for the IBC relayer"),
      ibc_remote: name
        .default(DEFAULT_ROLES.ibcRelayer.remote)
        .describe("remote-chain account that signs for the IBC relayer"),
    })
    .prefault({})
    .describe("the relayers' accounts"),
  local: z
    .strictObject({
      ...chainFields("local"),
      admins: z
        .array(name)
        .default([...CHAINS.local.settings.admins])
        .describe("names or addresses of the accounts and contracts that may submit adminmodule proposals"),
      built_in_contracts: z
        .boolean()
        .default(true)
        .describe(
          "if true, the chain includes the contracts icq-consumer, echo, rate-limiter and gas-burner, which get the first code ids",
        ),
      more_clients: z
        .array(
          z.strictObject({
            trusting_period: durationField(1_000).describe(
              "time after which the light client expires unless it is updated",
            ),
          }),
        )
        .max(100)
        .prefault([])
        .meta({ initial: [] })
        .describe(
          "additional light clients of the remote chain, without connections, named 07-tendermint-1 and so on",
        ),
      first_query: z
        .boolean()
        .default(true)
        .describe(
          "if true, the chain starts with query 1, a KV query of the contract icq-consumer for alice's balance on the remote chain",
        ),
    })
    .prefault({})
    .describe("the local chain, which hosts the interchain queries and the contracts"),
  remote: z.strictObject(chainFields("remote")).prefault({}).describe("the remote chain, which is queried"),
});

export type ChainFile = z.output<typeof fileSchema>;
export type ChainSection = ChainFile["remote"];

export const chainConfigKind: ConfigKind<ChainFile> = {
  name: "localnet",
  prefix: "RELAYWATCH_LOCALNET_",
  schema: fileSchema.superRefine((file, context) => {
    checkChain("local", file.local, context);
    checkChain("remote", file.remote, context);
    if (file.local.chain_id === file.remote.chain_id)
      addProblem(context, ["remote", "chain_id"], ["is also the local chain's id", "a different chain id"]);
    const roles: readonly (readonly [ChainPart, keyof ChainFile["relayers"]])[] = [
      ["local", "icq"],
      ["local", "ibc_local"],
      ["remote", "ibc_remote"],
    ];
    for (const [part, role] of roles)
      checkName(part, file[part], { path: ["relayers", role], value: file.relayers[role] }, context);
    const { built_in_contracts: hasContracts, first_query: hasQuery } = file.local;
    if (hasQuery && !hasContracts)
      addProblem(
        context,
        ["local", "first_query"],
        ["needs the contract icq-consumer", "built_in_contracts: true, or first_query: false"],
      );
    if (hasQuery)
      checkName("remote", file.remote, { path: ["local", "first_query"], value: "alice" }, context);
    if (hasContracts)
      checkName("local", file.local, { path: ["local", "built_in_contracts"], value: "operator" }, context);
    file.local.admins.forEach((value, index) =>
      checkNameOrAddress(file.local, { path: ["local", "admins", index], value }, context),
    );
  }),
};

function addProblem(
  context: z.RefinementCtx,
  path: NamedField["path"],
  [problem, expected]: readonly [problem: string, expected: string],
): void {
  context.addIssue({ code: "custom", path: [...path], message: issueText(problem, expected) });
}

interface NamedField {
  readonly path: readonly (string | number)[];
  readonly value: string;
}

function checkChain(part: ChainPart, section: ChainSection, context: z.RefinementCtx): void {
  const names = section.accounts.map((one) => one.name);
  names.forEach((one, index) => {
    if (names.indexOf(one) < index)
      addProblem(
        context,
        [part, "accounts", index, "name"],
        ["is the name of another account", "a unique name"],
      );
  });
  section.validators.forEach(({ operator }, index) => {
    const path = [part, "validators", index, "operator"];
    if (section.genesis_transactions) checkName(part, section, { path, value: operator ?? "" }, context);
    else if (operator !== undefined) checkNameOrAddress(section, { path, value: operator }, context);
  });
}

function checkName(
  part: ChainPart,
  { accounts }: ChainSection,
  { path, value }: NamedField,
  context: z.RefinementCtx,
): void {
  if (accounts.some((one) => one.name === value)) return;
  const known = accounts.map((one) => one.name).join(", ");
  addProblem(context, path, [
    `needs an account named ${JSON.stringify(value)} on the ${part} chain`,
    `one of ${known}`,
  ]);
}

function checkNameOrAddress(
  { accounts, bech32_prefix: prefix }: ChainSection,
  { path, value }: NamedField,
  context: z.RefinementCtx,
): void {
  if (accounts.some((one) => one.name === value)) return;
  try {
    parseAddress(prefix, value);
  } catch {
    addProblem(context, path, [
      "is neither an account nor an address",
      `an account name, or an address ${prefix}1…`,
    ]);
  }
}
