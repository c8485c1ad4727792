import type { Command } from "commander";

/** The localnet's test accounts "alice" and "bob" and its first validator, so that the examples work unchanged on a localnet. */
const ALICE = "neutron1996dm23zd6sgcvp2wacdzsr277al7ej0hxuumx";
const BOB = "neutron1xek7j2nv3yshdf4ly3s87ddf0aysz3ckr3y3p7";
/** Placeholder address of a recipient whose account does not exist yet. */
const NEWCOMER = "neutron1NEWCOMER";
const VALIDATOR = "neutronvaloper1VALIDATOR";
const CONTRACT = "neutron1CONTRACT";
const HASH = "1e00ac6ac6ab1fc31ef3bb3dba7e7d5f7a9d2ec4b3a2a0d5e6f70819a2b3c4d5";
const FACTORY = `factory/${ALICE}/gold`;

/** Sample values for the examples, keyed by argument name. */
const SAMPLES: Readonly<Record<string, string>> = {
  address: ALICE,
  amount: "1000000untrn",
  channel: "channel-0",
  "channel-id": "channel-0",
  client: "07-tendermint-0",
  "code-hash": HASH,
  "code-id": "1",
  coins: "1000untrn",
  connection: "connection-0",
  "connection-id": "connection-0",
  contract: CONTRACT,
  creator: ALICE,
  delegator: ALICE,
  denom: "untrn",
  depositor: ALICE,
  destination: VALIDATOR,
  "failure-id": "1",
  fee: "5",
  file: "genesis.json",
  hash: HASH,
  height: "12",
  "interchain-account-id": "treasury",
  json: "{}",
  key: "636f6e666967",
  "new-admin": BOB,
  "pair-id": "uibcatom<>untrn",
  options: "yes=0.6,no=0.4",
  owner: CONTRACT,
  port: "transfer",
  "port-id": "transfer",
  "proposal-id": "1",
  "query-id": "1",
  receiver: ALICE,
  salt: "01",
  sequence: "1",
  source: VALIDATOR,
  subdenom: "gold",
  "tick-index": "[-5]",
  to: BOB,
  "token-in": "untrn",
  trace: "transfer/channel-0/uatom",
  "tranche-key": "t||0",
  validator: VALIDATOR,
  voter: ALICE,
};

/** Handwritten examples for commands whose options matter more than their arguments: the words that follow the command's name. */
const EXAMPLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  up: [[], ["--contract", "my.wasm", "--watch"]],
  "localnet start": [[], ["local", "remote", "--home", "./data"]],
  "localnet fault": [["sidecar-down", "--for", "2m"]],
  "localnet time add": [["21d"]],
  "localnet time rate": [["86400"]],
  "localnet rehearse": [["month-end"]],
  "localnet revert": [["1"]],
  "localnet snapshot remove": [["1"]],
  "localnet time set": [["2027-01-31T23:59:00Z"]],
  "localnet mine": [["10", "--interval", "6s"]],
  "localnet faucet": [[ALICE, "1000000"]],
  "localnet scenario": [["over-quota"]],
  "localnet export": [["--home", "./data", "--chain", "local"]],
  "localnet import": [["genesis.json", "--home", "./data"]],
  "link-go-name": [["/usr/local/bin"]],
  "relayer start": [[], ["--config", "relayer.yaml"]],
  "relayer once": [["--config", "relayer.yaml"]],
  "relayer dry-run": [["--config", "relayer.yaml"]],
  "relayer doctor": [["--config", "relayer.yaml"]],
  "relayer plan": [["--queries", "1000", "--period", "5"]],
  "relayer log-level": [["debug"]],
  "relayer import-leveldb": [["./storage/leveldb", "--config", "relayer.yaml"]],
  "relayer dead-letters resubmit": [[`1/${HASH}`]],
  "watchdog start": [[], ["--config", "watchdog.yaml"]],
  "watchdog log-level": [["debug"]],
  why: [[], ["--config", "relayer.yaml"], ["--url", "http://127.0.0.1:9999"]],
  "what-if": [["--outage", "4h"]],
  "alerts ack": [["sidecar-down", "--note", "restarting it"]],
  "alerts unack": [["sidecar-down"]],
  "alerts silence": [["sidecar-down", "--for", "2h", "--reason", "upgrade"]],
  "alerts unsilence": [["1"]],
  "alerts backtest": [["--month", "2026-10"]],
  "report oracle": [["--month", "2026-10", "-o", "markdown"]],
  "report month-close": [["--month", "2026-10"]],
  "report handover": [["--since", "12h"]],
  "report status-page": [["--out", "public"]],
  "report relayer": [["--by", "owner"]],
  "query bank denom-metadata": [["untrn"]],
  "query auth module-account": [["fee_collector"]],
  "query txs": [["--query", `message.sender='${ALICE}'`, "--limit", "10"]],
  "query slashing signing-info": [["neutronvalcons1VALIDATOR"]],
  "query wasm smart": [[CONTRACT, '{"balance":{"query_id":2}}']],
  "query wasm contract-state smart": [[CONTRACT, '{"balance":{"query_id":2}}']],
  "query wasm code": [["1", "code.wasm"]],
  "query harpoon subscribed-contracts": [["HOOK_TYPE_AFTER_VALIDATOR_CREATED"]],
  "query dex show-pool-by-id": [["0"]],
  "query dex show-pool-metadata": [["0"]],
  "query ibc-transfer denom-trace": [
    ["ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2"],
  ],
  "query upgrade applied": [["v7.0.0"]],
  "tx feerefunder update-params": [["--ack-fee", "1000untrn", "--timeout-fee", "1000untrn"]],
  "tx upgrade software-upgrade": [["v7.0.0", "5000"]],
  "tx gov submit-legacy-proposal": [
    ["--title", "More", "--description", "of it", "--deposit", "10000000uatom"],
  ],
  "tx vesting create-periodic-vesting-account": [[NEWCOMER, "periods.json"]],
  "tx vesting create-permanent-locked-account": [[NEWCOMER, "1000untrn"]],
  "tx vesting create-vesting-account": [
    [NEWCOMER, "1000untrn", "1830297600"],
    [NEWCOMER, "1000untrn", "1830297600", "--delayed"],
  ],
  "tx bank send": [
    [BOB, "1000untrn"],
    [BOB, "5uatom,1000untrn", "--note", "rent", "--fees", "5000untrn"],
  ],
  "tx interchainqueries submit-query-result": [["1", "result.json"]],
  "tx dex deposit": [[ALICE, "untrn", "uibcatom", "100", "100", "[-5]", "1", "true", "false"]],
  "tx dex withdrawal": [[ALICE, "untrn", "uibcatom", "10", "[-5]", "1"]],
  "tx dex place-limit-order": [[ALICE, "untrn", "uibcatom", "[-5]", "1000", "GOOD_TIL_CANCELLED"]],
  "tx dex multi-hop-swap": [[ALICE, "untrn,uibcatom", "1000", "0.9", "true"]],
  "tx staking create-validator": [["validator.json"]],
  "tx staking edit-validator": [["--new-moniker", "north"]],
  "tx staking cancel-unbond": [[VALIDATOR, "1000000untrn", "12"]],
  "tx wasm store": [["my.wasm"]],
  "tx wasm instantiate": [["1", "{}", "--label", "mine", "--admin", ALICE]],
  "tx wasm instantiate2": [["1", "{}", "01", "--label", "mine"]],
  "tx wasm execute": [[CONTRACT, '{"do_it":{}}', "--amount", "5untrn"]],
  "tx wasm set-contract-label": [[CONTRACT, "mine"]],
  "tx harpoon manage-hook-subscription": [[CONTRACT, "HOOK_TYPE_AFTER_VALIDATOR_CREATED"]],
  "tx transfer": [["channel-0", "cosmos1RECEIVER", "1000untrn"]],
  "tx ibc-transfer transfer": [["transfer", "channel-0", "cosmos1RECEIVER", "1000untrn"]],
  "tx tokenfactory mint": [[`100${FACTORY}`]],
  "tx tokenfactory burn": [[`5${FACTORY}`]],
  "tx tokenfactory force-transfer": [[`20${FACTORY}`, BOB, ALICE]],
  "tx tokenfactory change-admin": [[FACTORY, BOB]],
  "tx tokenfactory set-denom-metadata": [
    [
      `{"base":"${FACTORY}","display":"GOLD","name":"Gold","symbol":"GLD","denom_units":[{"denom":"${FACTORY}","exponent":0},{"denom":"GOLD","exponent":6}]}`,
    ],
  ],
  "tx tokenfactory set-before-send-hook": [[FACTORY, CONTRACT]],
  "tx tokenfactory update-params": [["--creation-gas", "7"]],
  "tx ibc-rate-limit update-params": [[CONTRACT]],
  "keys add": [["relayer"], ["relayer", "--recover", "--source", "words.txt"]],
  "keys show": [["relayer", "-a"]],
  "keys delete": [["relayer", "--yes"]],
  "keys export": [["relayer"]],
  "keys import": [["relayer", "relayer.asc"]],
  "wasm inspect": [["my.wasm"]],
  "config validate": [
    ["relayer.yaml", "watchdog.yaml"],
    ["--no-secrets", "watchdog.yaml"],
  ],
  "config show": [["relayer.yaml", "--origin"]],
  "config init": [["relayer"], ["watchdog", "--output", "watchdog.yaml"]],
  "config from-env": [[".env"]],
};

/** Signers of transaction examples, keyed by the command's first words. Any other example is signed by "alice". */
const SIGNERS: Readonly<Record<string, string>> = {
  "tx feerefunder update-params": "operator",
  "tx ibc-rate-limit": "operator",
  "tx tokenfactory update-params": "operator",
  "tx wasm pin": "operator",
  "tx upgrade": "operator",
  "tx wasm unpin": "operator",
};

/**
 * Returns a command's examples, each as a list of words without the program name. `path` contains the names of the command's
 * parents and the command's own name.
 */
export function examplesOf(command: Command, path: readonly string[]): readonly (readonly string[])[] {
  const name = path.join(" ");
  const given = EXAMPLES[name] ?? [
    command.registeredArguments
      .filter(({ required }) => required)
      .map((argument) => argument.argChoices?.[0] ?? SAMPLES[argument.name()] ?? `<${argument.name()}>`),
  ];
  const from = path[0] === "tx" ? ["--from", signerOf(name)] : [];
  return given.map((words) => [...path, ...words, ...from]);
}

function signerOf(name: string): string {
  return Object.entries(SIGNERS).find(([prefix]) => name.startsWith(prefix))?.[1] ?? "alice";
}

export function shellText(program: string, words: readonly string[]): string {
  return [
    program,
    ...words.map((word) => (/^[\w./:,@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)),
  ].join(" ");
}

/** Returns the examples that end a command's help text, or an empty string for a group of commands. */
export function exampleHelp(command: Command, path: readonly string[]): string {
  if (command.commands.length > 0 || path.length === 0) return "";
  const lines = examplesOf(command, path).map((words) => `  ${shellText("relaywatch", words)}`);
  return `\nExamples:\n${lines.join("\n")}`;
}
