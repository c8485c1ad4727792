import { writeFileSync } from "node:fs";
import { Argument, Command } from "commander";
import * as wire from "../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { fromBase64, fromHex, toBase64, utf8 } from "../../../platform/base/bytes.ts";
import { CliError, EXIT } from "../../../platform/base/errors.ts";
import { stringifyJson } from "../../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../platform/cli/options.ts";
import { withChain } from "../chain-connection.ts";
import { addConnectionOptions, type ConnectionOptions } from "../connection-options.ts";
import { addProfileOptions, gasReportsOf, type ProfileOptions } from "../gas-reports.ts";
import { query, queryCommand, queryCommands, type QueryGroup } from "../module-query.ts";
import { parseJsonText, parsing } from "../command-inputs.ts";

const CODE = `CODE code_id, CREATOR creator, INSTANTIATE instantiate_permission.permission,
      HASH data_hash`;

const WASM = {
  service: "cosmwasm.wasm.v1.Query",
  fields: {
    address: "<contract> contract address",
    creator_address: "<creator> creator address",
    code_hash: "<code-hash> code hash, hex",
    salt: "<salt> salt in hex",
    query_data: ["<json> query message for the contract", parseQuery],
  },
} as const;

/** Parses a hex key and returns it in base64, as the request requires. */
function parseKey(text: string): string {
  return toBase64(parsing(() => fromHex(text), "expected hex."));
}

/** Checks JSON text and returns it in base64, as the request requires. */
function parseQuery(text: string): string {
  return toBase64(utf8(parseJsonText(text)));
}

const ALL = query(
  "AllContractState",
  "list a contract's entries, with keys in hex and values in base64",
  "KEY key, VALUE value",
);
const SMART = query("SmartContractState", "query a contract", "RESPONSE");

const QUERIES: QueryGroup = {
  ...WASM,
  queries: {
    params: query("Params", "print who may upload and instantiate code", {
      columns: "UPLOAD code_upload_access.permission, INSTANTIATE instantiate_default_permission",
    }),
    "list-code": query("Codes", "list the stored codes", CODE),
    "code-info": query("Code", "print a code's creator, permission and hash", CODE),
    "build-address": query("BuildAddress", "print the contract address that instantiate2 would assign", {
      columns: "CONTRACT",
      options: {
        init_args: [
          "--fix-msg <json>",
          "instantiation message, for an address that depends on it",
          parseQuery,
        ],
      },
    }),
    pinned: query("PinnedCodes", "list the pinned codes", "CODE"),
    "list-contract-by-code": query("ContractsByCode", "list a code's contracts", "CONTRACT"),
    "list-contracts-by-creator": query("ContractsByCreator", "list the contracts created by an account", {
      columns: "CONTRACT",
    }),
    contract: query("ContractInfo", "print a contract's code, label, creator and admin", {
      path: "contract_info",
      columns: "CODE code_id, LABEL label, CREATOR creator, ADMIN admin, HEIGHT created.block_height",
    }),
    "contract-history": query("ContractHistory", "list a contract's code history", {
      columns: "OPERATION operation, CODE code_id, HEIGHT updated.block_height, MESSAGE msg",
    }),
    state: ALL,
    smart: SMART,
  },
};

const STATE_QUERIES: QueryGroup = { ...WASM, queries: { all: ALL, smart: SMART } };

const RAW_QUERIES: QueryGroup = {
  service: WASM.service,
  fields: { ...WASM.fields, query_data: ["<key> key in hex", parseKey] },
  queries: { raw: query("RawContractState", "print an entry's value in base64", "VALUE") },
};

/** `relaywatch query wasm`, with wasmd's names and the short names `smart` and `state` for `contract-state smart` and `all`. */
export function queryWasmCommand(context: CliContext): Command {
  const state = queryCommands(STATE_QUERIES)(context).addCommand(queryCommand(RAW_QUERIES, "raw", context));
  const short = queryCommands(QUERIES)(context);
  withProfile(state.commands, context);
  withProfile(short.commands, context);
  return short
    .addCommand(
      state.name("contract-state").description("read a contract's stored entries, or query the contract"),
    )
    .addCommand(downloadCommand(context))
    .addCommand(vmVersionCommand(context));
}

/** Adds the gas profile options to the `smart` command, so that users can profile a contract query. */
function withProfile(commands: readonly Command[], context: CliContext): void {
  const smart = commands.find((one) => one.name() === "smart");
  if (smart === undefined) return;
  addProfileOptions(smart).hook("postAction", async (command) => {
    const options = command.opts<ProfileOptions & ConnectionOptions>();
    if (options.profile === undefined) return;
    const [address = "", queryData = ""] = command.processedArgs.map(String);
    const request = wire.QuerySmartContractStateRequest.encode({ address, queryData: fromBase64(queryData) });
    const path = "/cosmwasm.wasm.v1.Query/SmartContractState";
    const subject = { kind: "query", path, request: toBase64(request.finish()) } as const;
    await withChain(options, context, async (client) =>
      gasReportsOf(context)?.save(client, subject, options, context),
    );
  });
}

/** `relaywatch query wasm code`: saves a contract's uncompressed code to a file. */
function downloadCommand(context: CliContext): Command {
  return addConnectionOptions(new Command("code").description("save a contract's code to a file"))
    .addArgument(new Argument("<code-id>", "code id").argParser(parseUint64))
    .argument("<file>", "file to write the uncompressed code to")
    .action((codeId: bigint, file: string, options: ConnectionOptions) =>
      withChain(options, context, async (client) => {
        const request = wire.QueryCodeRequest.encode({ codeId }).finish();
        const response = await client.grpcQuery("/cosmwasm.wasm.v1.Query/Code", request, context.signal, 0n);
        const { data } = wire.QueryCodeResponse.decode(response);
        if (data.length === 0)
          throw new CliError(EXIT.fatal, `code ${codeId} is built into the localnet and has no WebAssembly`);
        writeFileSync(file, data);
        context.print(`${data.length} bytes in ${file}`);
      }),
    );
}

/** `relaywatch query wasm libwasmvm-version`: prints the libwasmvm version whose behavior local chains reproduce. */
function vmVersionCommand(context: CliContext): Command {
  return new Command("libwasmvm-version")
    .description("print the libwasmvm version whose behaviour local chains match exactly")
    .addOption(jsonOption())
    .action(({ json }: { readonly json?: true }) =>
      context.print(json === true ? stringifyJson({ version: DEPLOYED_VM }) : DEPLOYED_VM),
    );
}

const DEPLOYED_VM = "2.1.5";
