import { encodeBech32, sha256, toBase64 } from "../../platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { classicContractAddress } from "../chain/modules/wasm/address.ts";
import { accountNamed, type ChainProfile } from "../accounts/chains.ts";

/** A binary contract with which a new local chain starts. */
export interface GenesisContract {
  /** WebAssembly, unpacked. */
  readonly code: Uint8Array;
  /** Message with which it is instantiated. */
  readonly init: JsonValue;
  readonly label: string;
  /** Name of the test account that may migrate the contract. */
  readonly admin: string;
}

/** A genesis contract, with its code id and address. */
export interface PlacedContract {
  readonly label: string;
  readonly codeId: bigint;
  readonly address: string;
}

interface WasmGenesis {
  readonly codes: readonly JsonObject[];
  readonly gen_msgs: readonly JsonObject[];
}

/**
 * Adds contracts to the genesis of the `wasm` module, after the existing ones. Each has its own code, and is uploaded and
 * instantiated by the account `operator`.
 */
export function addContracts(
  chain: ChainProfile,
  { codes, gen_msgs }: WasmGenesis,
  contracts: readonly GenesisContract[],
): WasmGenesis & { readonly placed: readonly PlacedContract[] } {
  if (contracts.length === 0) return { codes, gen_msgs, placed: [] };
  const creator = accountNamed(chain, "operator").address;
  const instances = gen_msgs.filter((message) => isRecord(message["instantiate_contract"])).length;
  const placed = contracts.map(({ label }, index) => {
    const codeId = BigInt(codes.length + index + 1);
    const address = classicContractAddress(codeId, BigInt(instances + index + 1));
    return { label, codeId, address: encodeBech32(chain.bech32Prefix, address) };
  });
  return {
    codes: [...codes, ...contracts.map(({ code }) => binaryCode(code, creator))],
    gen_msgs: [
      ...gen_msgs,
      ...contracts.map((contract, index) => ({
        instantiate_contract: {
          sender: creator,
          admin: accountNamed(chain, contract.admin).address,
          code_id: String(codes.length + index + 1),
          label: contract.label,
          msg: contract.init,
          funds: [],
        },
      })),
    ],
    placed,
  };
}

function binaryCode(code: Uint8Array, creator: string): JsonObject {
  return {
    code_info: {
      code_hash: toBase64(sha256(code)),
      creator,
      instantiate_config: { permission: "Everybody", addresses: [] },
    },
    code_bytes: toBase64(code),
    pinned: false,
  };
}
