import { writeFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import {
  QueryCodeRequest,
  QueryCodeResponse,
  QuerySmartContractStateRequest,
} from "../../../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { fromBase64, fromHex, toBase64, utf8 } from "../../../../../platform/base/bytes.ts";
import { EXIT, errorMessage } from "../../../../../platform/base/errors.ts";
import { stringifyJson } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { column } from "../../../../../platform/cli/table.ts";
import { addConnectionOptions, type ConnectionOptions, withChain } from "../../../../cli/chain-connection.ts";
import { addProfileOptions, gasReportsOf, type ProfileOptions } from "../../../../cli/gas-reports.ts";
import { type AnswerTable, type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";

const WASM_TABLES = {
  Params: {
    path: "params",
    columns: [
      column("UPLOAD", "code_upload_access.permission"),
      column("INSTANTIATE", "instantiate_default_permission"),
    ],
  },
  Codes: {
    path: "code_infos",
    columns: [
      column("CODE", "code_id"),
      column("CREATOR", "creator"),
      column("INSTANTIATE", "instantiate_permission.permission"),
      column("HASH", "data_hash"),
    ],
  },
  PinnedCodes: { path: "code_ids", columns: [column("CODE", "")] },
  ContractsByCode: { path: "contracts", columns: [column("CONTRACT", "")] },
  ContractsByCreator: { path: "contract_addresses", columns: [column("CONTRACT", "")] },
  ContractInfo: {
    path: "contract_info",
    columns: [
      column("CODE", "code_id"),
      column("LABEL", "label"),
      column("CREATOR", "creator"),
      column("ADMIN", "admin"),
      column("HEIGHT", "created.block_height"),
    ],
  },
  ContractHistory: {
    path: "entries",
    columns: [
      column("OPERATION", "operation"),
      column("CODE", "code_id"),
      column("HEIGHT", "updated.block_height"),
      column("MESSAGE", "msg"),
    ],
  },
  AllContractState: {
    path: "models",
    columns: [column("KEY", "key"), column("VALUE", "value")],
  },
  Code: {
    path: "code_info",
    columns: [
      column("CODE", "code_id"),
      column("CREATOR", "creator"),
      column("INSTANTIATE", "instantiate_permission.permission"),
      column("HASH", "data_hash"),
    ],
  },
  RawContractState: { path: "", columns: [column("VALUE", "data")] },
  BuildAddress: { path: "", columns: [column("CONTRACT", "address")] },
  SmartContractState: { path: "", columns: [column("RESPONSE", "data")] },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const ARGUMENTS = {
  address: () => new Argument("<contract>", "address of the contract"),
  creator_address: () => new Argument("<creator>", "address of the account"),
  code_id: () => new Argument("<code-id>", "number of the code").argParser(parseUint64),
  code_hash: () => new Argument("<code-hash>", "hash of the code, hex"),
  salt: () => new Argument("<salt>", "hex"),
  query_data: () => new Argument("<json>", "query of the contract").argParser(parseQuery),
};

/** Returns a key in base64, as the request has it. */
function parseKey(text: string): string {
  try {
    return toBase64(fromHex(text));
  } catch {
    throw new InvalidArgumentError("hex was expected.");
  }
}

/** Returns JSON text in base64, as the request has it. */
function parseQuery(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`JSON was expected: ${errorMessage(error)}.`);
  }
  return toBase64(utf8(text));
}

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof WASM_TABLES>[] = [
  { name: "params", rpc: "Params", description: "print who may upload and instantiate code" },
  { name: "list-code", rpc: "Codes", description: "list the stored codes", isList: true },
  {
    name: "code-info",
    rpc: "Code",
    description: "print creator, permission and hash of a code",
    arguments: ["code_id"],
  },
  {
    name: "build-address",
    rpc: "BuildAddress",
    description: "print the address that instantiate2 gives a contract",
    arguments: ["code_hash", "creator_address", "salt"],
    options: {
      init_args: () =>
        new Option(
          "--fix-msg <json>",
          "message of the instantiation, if it is part of the address",
        ).argParser(parseQuery),
    },
  },
  { name: "pinned", rpc: "PinnedCodes", description: "list the pinned codes", isList: true },
  {
    name: "list-contract-by-code",
    rpc: "ContractsByCode",
    description: "list the contracts of a code",
    arguments: ["code_id"],
    isList: true,
  },
  {
    name: "list-contracts-by-creator",
    rpc: "ContractsByCreator",
    description: "list the contracts that an account created",
    arguments: ["creator_address"],
    isList: true,
  },
  {
    name: "contract",
    rpc: "ContractInfo",
    description: "print code, label, creator and admin of a contract",
    arguments: ["address"],
  },
  {
    name: "contract-history",
    rpc: "ContractHistory",
    description: "list the codes that a contract had",
    arguments: ["address"],
    isList: true,
  },
];

const SHORT_QUERIES: typeof QUERIES = [
  {
    name: "state",
    rpc: "AllContractState",
    description: "list the entries of a contract: key in hex, value in base64",
    arguments: ["address"],
    isList: true,
  },
  {
    name: "smart",
    rpc: "SmartContractState",
    description: "ask a contract",
    arguments: ["address", "query_data"],
  },
];

const STATE_QUERIES = SHORT_QUERIES.map((query) =>
  query.name === "state" ? { ...query, name: "all" } : query,
);

const RAW_ARGUMENTS = {
  address: ARGUMENTS.address,
  query_data: () => new Argument("<key>", "key in hex").argParser(parseKey),
};

const RAW_QUERIES: readonly ServiceQuery<keyof typeof RAW_ARGUMENTS, keyof typeof WASM_TABLES>[] = [
  {
    name: "raw",
    rpc: "RawContractState",
    description: "print the value of an entry, base64",
    arguments: ["address", "query_data"],
  },
];

const SERVICE = {
  service: "cosmwasm.wasm.v1.Query",
  arguments: ARGUMENTS,
  tables: WASM_TABLES,
};

/** `relaywatch query wasm`. Names are those of wasmd. `smart` and `state` are short for `contract-state smart` and `contract-state all`. */
export function queryWasmCommand(context: CliContext): Command {
  const state = serviceQueryCommands({ ...SERVICE, queries: STATE_QUERIES }, context);
  const raw = serviceQueryCommands({ ...SERVICE, arguments: RAW_ARGUMENTS, queries: RAW_QUERIES }, context);
  for (const command of raw.commands) state.addCommand(command);
  const short = serviceQueryCommands({ ...SERVICE, queries: [...QUERIES, ...SHORT_QUERIES] }, context);
  withProfile(state.commands, context);
  withProfile(short.commands, context);
  return short
    .addCommand(state.name("contract-state").description("a contract's entries, and its answers to queries"))
    .addCommand(downloadCommand(context))
    .addCommand(vmVersionCommand(context));
}

/** Lets the smart queries write a profile. */
function withProfile(commands: readonly Command[], context: CliContext): void {
  const smart = commands.find((one) => one.name() === "smart");
  if (smart === undefined) return;
  addProfileOptions(smart, context).hook("postAction", async (command) => {
    const options = command.opts<ProfileOptions & ConnectionOptions>();
    if (options.profile === undefined) return;
    const [address = "", queryData = ""] = command.processedArgs.map(String);
    const request = QuerySmartContractStateRequest.encode({ address, queryData: fromBase64(queryData) });
    const path = "/cosmwasm.wasm.v1.Query/SmartContractState";
    const subject = { kind: "query", path, request: toBase64(request.finish()) } as const;
    await withChain(options, context, async (client) =>
      gasReportsOf(context)?.save(client, subject, options, context),
    );
  });
}

/** `query wasm code`. */
function downloadCommand(context: CliContext): Command {
  return addConnectionOptions(new Command("code").description("save the bytes of a code"))
    .addArgument(ARGUMENTS.code_id())
    .argument("<file>", "file for the code, unpacked")
    .action((codeId: bigint, file: string, options: ConnectionOptions) =>
      withChain(options, context, async (client) => {
        const request = QueryCodeRequest.encode({ codeId }).finish();
        const response = await client.grpcQuery("/cosmwasm.wasm.v1.Query/Code", request, context.signal, 0n);
        const { data } = QueryCodeResponse.decode(response);
        if (data.length === 0)
          throw new CliError(EXIT.fatal, `code ${codeId} is built into the localnet: it has no WebAssembly`);
        writeFileSync(file, data);
        context.print(`${data.length} bytes in ${file}`);
      }),
    );
}

/** `query wasm libwasmvm-version`: of the chain that this program implements. */
function vmVersionCommand(context: CliContext): Command {
  return new Command("libwasmvm-version")
    .description("print the version of the virtual machine that local chains are exact to")
    .option("--json", "print JSON")
    .action(({ json }: { readonly json?: true }) =>
      context.print(json === true ? stringifyJson({ version: DEPLOYED_VM }) : DEPLOYED_VM),
    );
}

const DEPLOYED_VM = "2.1.5";
