import { Argument, type Command, InvalidArgumentError } from "commander";
import { toBase64, utf8 } from "../../../../../platform/base/bytes.ts";
import { errorMessage } from "../../../../../platform/base/errors.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { column } from "../../../../../platform/cli/table.ts";
import { type AnswerTable, type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query wasm`. Names are those of wasmd, but for `smart`. */
export function queryWasmCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "cosmwasm.wasm.v1.Query", arguments: ARGUMENTS, tables: WASM_TABLES, queries: QUERIES },
    context,
  );
}

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
  SmartContractState: { path: "", columns: [column("RESPONSE", "data")] },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const ARGUMENTS = {
  address: () => new Argument("<contract>", "address of the contract"),
  creator_address: () => new Argument("<creator>", "address of the account"),
  code_id: () => new Argument("<code-id>", "number of the code").argParser(parseUint64),
  query_data: () => new Argument("<json>", "query of the contract").argParser(parseQuery),
};

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
    description: "ask a contract; the same as contract-state smart of wasmd",
    arguments: ["address", "query_data"],
  },
];
