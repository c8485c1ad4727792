import { type Command, InvalidArgumentError, Option } from "commander";
import { HookType } from "../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { queryIdArgument } from "../../../platform/cli/options.ts";
import { cellText, fieldAt } from "../../../platform/cli/table.ts";
import { unchecked } from "../command-inputs.ts";
import { query, queryCommand, queryCommands, type QueryGroup } from "../module-query.ts";

const MODULE_ACCOUNT = "NAME name, ADDRESS base_account.address, PERMISSIONS permissions";

const COINS = {
  columns: "DENOM denom, AMOUNT amount",
  coin: { denom: "denom", amount: "amount" },
};
const METADATA = "BASE base, DISPLAY display, SYMBOL symbol, NAME name";

const PRICE = {
  columns: "DENOM denom, PRICE amount",
  coin: { denom: "denom", amount: "amount" },
};

const SIGNING = `CONSENSUS ADDRESS address, SINCE start_height, MISSED missed_blocks_counter,
      JAILED UNTIL jailed_until, TOMBSTONED tombstoned`;

const PROPOSAL = `PROPOSAL id, TITLE title, STATUS status, DEPOSITS UNTIL deposit_end_time,
      VOTES UNTIL voting_end_time`;
const VOTE = "PROPOSAL proposal_id, VOTER voter, OPTIONS options";
const DEPOSIT = "PROPOSAL proposal_id, DEPOSITOR depositor, AMOUNT amount";
const TALLY = "YES yes_count, ABSTAIN abstain_count, NO no_count, NO WITH VETO no_with_veto_count";

const TRACE = "PATH path, DENOM base_denom";

const FAILURES = { columns: { CONTRACT: "address", FAILURE: "id", ERROR: "error", CALL: callText } };

/**
 * `relaywatch query MODULE`, for modules whose queries need no special code. Command names and arguments are the same as in Cosmos
 * SDK programs.
 */
export const MODULE_QUERIES = {
  auth: {
    service: "cosmos.auth.v1beta1.Query",
    fields: { name: "<name> module account name" },
    queries: {
      params: query("Params", "print the module's parameters"),
      "account|account-info": query(
        "AccountInfo",
        "print an account's number and sequence",
        "ADDRESS address, NUMBER account_number, SEQUENCE sequence",
      ),
      "module-accounts": query("ModuleAccounts", "list the module accounts", MODULE_ACCOUNT),
      "module-account": query("ModuleAccountByName", "print a module account", MODULE_ACCOUNT),
    },
  },
  bank: {
    service: "cosmos.bank.v1beta1.Query",
    queries: {
      params: query("Params", "print the module's parameters"),
      balances: query("AllBalances", "list an account's coins", COINS),
      balance: query("Balance", "print an account's balance in one denomination", COINS),
      "spendable-balances": query("SpendableBalances", "list an account's spendable coins", COINS),
      "total-supply|total": query("TotalSupply", "list the supply of all denominations", COINS),
      "total-supply-of": query("SupplyOf", "print the supply of one denomination", COINS),
      "denoms-metadata": query("DenomsMetadata", "list the denomination metadata", METADATA),
      "denom-metadata": query("DenomMetadataByQueryString", "print a denomination's metadata", METADATA),
      "denom-owners": query("DenomOwnersByQuery", "list a denomination's owners", {
        columns: "ADDRESS address, AMOUNT balance.amount",
        coin: { denom: "balance.denom", amount: "balance.amount" },
      }),
    },
  },
  feemarket: {
    service: "feemarket.feemarket.v1.Query",
    fields: { denom: "<denom> fee denomination" },
    queries: {
      params: query("Params", "print the market's parameters"),
      state: query("State", "print the base gas price and the learning rate", {
        columns: "BASE GAS PRICE base_gas_price, LEARNING RATE learning_rate",
      }),
      "gas-price": query("GasPrice", "print the gas price in one denomination", PRICE),
      "gas-prices": query("GasPrices", "list the gas prices", PRICE),
    },
  },
  slashing: {
    service: "cosmos.slashing.v1beta1.Query",
    fields: { cons_address: "<consensus-address> the validator's consensus address" },
    queries: {
      params: query("Params", "print the module's parameters"),
      "signing-info": query("SigningInfo", "print a validator's missed blocks and jail time", SIGNING),
      "signing-infos": query("SigningInfos", "list the validators' missed blocks and jail times", {
        columns: SIGNING,
      }),
    },
  },
  gov: {
    service: "cosmos.gov.v1.Query",
    fields: {
      proposal_id: ["<proposal-id> proposal id", unchecked],
      voter: "<voter> voter address",
      depositor: "<depositor> depositor address",
    },
    queries: {
      params: query("Params", "print the governance parameters: deposits, periods, thresholds", {
        takes: [],
      }),
      proposal: query("Proposal", "print a proposal", PROPOSAL),
      proposals: query("Proposals", "list the proposals", { columns: PROPOSAL, takes: [] }),
      vote: query("Vote", "print a vote", VOTE),
      votes: query("Votes", "list the votes on a proposal; votes are deleted when voting ends", VOTE),
      deposit: query("Deposit", "print a deposit", DEPOSIT),
      deposits: query("Deposits", "list a proposal's deposits", DEPOSIT),
      tally: query(
        "TallyResult",
        "print the result of a vote, or the current count while voting is open",
        TALLY,
      ),
    },
  },
  upgrade: {
    service: "cosmos.upgrade.v1beta1.Query",
    fields: { name: "<name> upgrade name" },
    queries: {
      plan: query("CurrentPlan", "print the planned upgrade", "NAME name, HEIGHT height, INFO info"),
      applied: query("AppliedPlan", "print the height at which an upgrade was applied", "HEIGHT"),
      authority: query("Authority", "print the account that plans upgrades", "ADDRESS"),
    },
  },
  adminmodule: {
    service: "cosmos.adminmodule.adminmodule.Query",
    queries: {
      admins: query("Admins", "list the accounts that may submit proposals", "ADMIN"),
      archivedproposals: query("ArchivedProposals", "list the executed proposals", {
        columns: "PROPOSAL id, TIME submit_time, MESSAGES messages",
      }),
    },
  },
  /** Queries specified in chain-extension-modules.md, "Interchain queries module: queries". */
  interchainqueries: {
    service: "neutron.interchainqueries.Query",
    fields: {
      query_id: queryIdArgument,
      connection_id: "<connection-id> IBC connection to the remote chain",
    },
    queries: {
      params: query("Params", "print the module's parameters", { isYaml: true }),
      "registered-queries": query("RegisteredQueries", "list registered queries", {
        options: {
          owners: () =>
            new Option("--owners <address>", "list only this owner's queries; repeatable")
              .default([], "all")
              .argParser((owner: string, owners: readonly string[]) => [...owners, owner]),
          connection_id: () =>
            new Option("--connection_id <id>", "list only queries over this connection").default("", "all"),
        },
      }),
      "registered-query": query("RegisteredQuery", "print one registered query"),
      "query-result": query("QueryResult", "print a KV query's last result"),
      "query-last-remote-height": query(
        "LastRemoteHeight",
        "print the latest remote height that a connection's light client knows",
      ),
    },
  },
  /** Queries specified in chain-extension-modules.md, "Hook subscription module". */
  harpoon: {
    service: "neutron.harpoon.Query",
    fields: { hook_type: ["<hook-type> name or number of a hook type", parseHookType] },
    queries: {
      "subscribed-contracts": query(
        "SubscribedContracts",
        "list the contracts subscribed to a hook type, in call order",
        "CONTRACT",
      ),
    },
  },
  /** Transfer queries, with ibc-go's command names. */
  "ibc-transfer": {
    service: "ibc.applications.transfer.v1.Query",
    fields: {
      hash: "<denom> voucher denomination (ibc/…) or hash",
      trace: "<trace> path and denomination, e.g. transfer/channel-0/uatom",
    },
    queries: {
      params: query("Params", "print the module's parameters"),
      "denom-traces": query("DenomTraces", "list the origins of the vouchers", TRACE),
      "denom-trace": query("DenomTrace", "print a voucher's origin", TRACE),
      "denom-hash": query("DenomHash", "print the voucher hash for a known path and denomination", "HASH"),
      "escrow-address": query("EscrowAddress", "print a channel's escrow account", {
        columns: "ADDRESS",
      }),
      "total-escrow": query(
        "TotalEscrowForDenom",
        "print how much of a denomination is escrowed for transfers to other chains",
        "AMOUNT amount, DENOM denom",
      ),
    },
  },
  contractmanager: {
    service: "neutron.contractmanager.Query",
    fields: {
      address: "<address> contract address",
      failure_id: ["<failure-id> failure id", unchecked],
    },
    queries: {
      params: query("Params", "print the gas limit of a sudo call"),
      failures: query("Failures", "list all contracts' failed calls", { ...FAILURES, takes: [] }),
      "contract-failures": query("AddressFailures", "list a contract's failed calls", FAILURES),
      "failure-details": query("AddressFailure", "print a failed call", FAILURES),
    },
  },
  consensus: {
    service: "cosmos.consensus.v1.Query",
    queries: { params: query("Params", "print the consensus parameters: block and evidence limits") },
  },
  "ibc-rate-limit": {
    service: "neutron.ibcratelimit.v1beta1.Query",
    queries: { params: query("Params", "print the contract that decides which transfers are allowed") },
  },
} as const satisfies Readonly<Record<string, QueryGroup>>;

export function moduleQueries(name: keyof typeof MODULE_QUERIES): (context: CliContext) => Command {
  return queryCommands(MODULE_QUERIES[name]);
}

/** Parses a hook type's name, such as `HOOK_TYPE_AFTER_VALIDATOR_CREATED`, or its number, which only the chain validates. */
export function parseHookType(text: string): number {
  const known = Object.entries(HookType).find(([name]) => name === text);
  if (known !== undefined) return known[1];
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const names = Object.keys(HookType).slice(1).join(", ");
  throw new InvalidArgumentError(`expected an integer from 0 to 999999999, or one of ${names}`);
}

/** Returns the JSON text of a failed contract call, which the chain returns in base64 as `sudo_payload`. */
function callText(failure: JsonValue): string {
  const payload = fieldAt(failure, "sudo_payload");
  return cellText(typeof payload === "string" ? Buffer.from(payload, "base64").toString("utf8") : null);
}

const TXS: QueryGroup = {
  service: "cosmos.tx.v1beta1.Service",
  fields: { hash: "<hash> transaction hash, hex" },
  queries: {
    tx: query("GetTx", "print a transaction"),
    txs: query("GetTxsEvent", "search transactions by their events", {
      path: "tx_responses",
      columns: `HEIGHT height, HASH txhash, CODE code, GAS USED gas_used, GAS LIMIT gas_wanted,
          TIME timestamp`,
      isShort: true,
      takes: [],
      options: {
        query: () =>
          new Option(
            "--query <query>",
            "conditions on events, e.g. \"message.sender='neutron1…' AND tx.height>5\"",
          ).makeOptionMandatory(),
        limit: () => new Option("--limit <n>", "maximum number of transactions").default("100"),
        page: () => new Option("--page <n>", "page number, from 1").default("1"),
      },
    }),
  },
};

const BLOCKS: QueryGroup = {
  service: "cosmos.base.tendermint.v1beta1.Service",
  fields: { height: "<height> block height" },
  queries: { block: query("GetBlockByHeight", "print a block") },
};

function command(group: QueryGroup, name: string) {
  return (context: CliContext) => queryCommand(group, name, context);
}

/** `relaywatch query tx`: prints a transaction and its result as YAML or JSON. */
export const queryTxCommand = command(TXS, "tx");

export const queryTxsCommand = command(TXS, "txs");

export const queryBlockCommand = command(BLOCKS, "block");
