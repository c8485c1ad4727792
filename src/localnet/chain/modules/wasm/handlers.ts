import type * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { parseCoins } from "../../runtime/coins.ts";
import { type Context, event } from "../../runtime/context.ts";
import { ErrInvalidRequest, ErrUnauthorized } from "../../runtime/errors.ts";
import type { MessageFunctions } from "../../runtime/handlers.ts";
import type { ContractHost } from "./contract-host.ts";
import { contracts } from "./keeper.ts";
import * as checks from "./messages.ts";
import type { WasmOptions } from "./types.ts";

/** The messages to contracts, with their stateless checks in the order of wasmd's `ValidateBasic`. */
export function contractMessages(options: WasmOptions, host: ContractHost) {
  const { authority } = options;
  const { requireAddress } = checks.createAddressChecks(options.bech32Prefix);
  const requirePlace = ({ sender, contract }: ContractPlace): void => {
    requireAddress(sender, "sender");
    requireAddress(contract, "contract");
  };
  const requireInstantiation = (message: wire.MsgInstantiateContract): void => {
    requireAddress(message.sender, "sender");
    checks.requireCodeId(message.codeId);
    checks.requireLabel(message.label);
    checks.requireFunds(message.funds, "funds");
    if (message.admin !== "") requireAddress(message.admin, "admin");
    checks.requireJson(message.msg);
  };
  return {
    InstantiateContract: {
      validate: requireInstantiation,
      handle: (context, message) => host.instantiate(context, checks.instantiation(message, authority)),
    },
    InstantiateContract2: {
      validate: (message) => {
        requireInstantiation(message);
        checks.requireSalt(message.salt);
      },
      handle: (context, message) => {
        const salt = { bytes: message.salt, isMessageFixed: message.fixMsg };
        return host.instantiate(context, { ...checks.instantiation(message, authority), salt });
      },
    },
    ExecuteContract: {
      validate: (message) => {
        requirePlace(message);
        checks.requireFunds(message.funds, "sentFunds");
        checks.requireJson(message.msg);
      },
      handle: (context, { sender, contract, msg, funds }) => ({
        data: host.execute(context, contract, { sender, funds: parseCoins(funds) }, msg),
      }),
    },
    MigrateContract: {
      validate: (message) => {
        checks.requireCodeId(message.codeId);
        requirePlace(message);
        checks.requireJson(message.msg);
      },
      handle: (context, { sender, contract: address, codeId, msg: message }) => {
        const isAuthority = sender === authority;
        return { data: host.migrate(context, { address, sender, codeId, message, isAuthority }) };
      },
    },
    UpdateAdmin: {
      validate: (message) => {
        requirePlace(message);
        requireAddress(message.newAdmin, "new admin");
        if (message.sender.toLowerCase() === message.newAdmin.toLowerCase())
          throw ErrInvalidRequest("new admin is the same as the old");
      },
      handle: (context, message) => setAdmin(context, message, message.newAdmin, options),
    },
    ClearAdmin: {
      validate: requirePlace,
      handle: (context, message) => setAdmin(context, message, "", options),
    },
    UpdateContractLabel: {
      validate: (message) => {
        requireAddress(message.sender, "sender");
        checks.requireLabel(message.newLabel);
        requireAddress(message.contract, "contract");
      },
      handle: (context, message) => setLabel(context, message, options),
    },
    SudoContract: {
      validate: (message) => {
        requireAddress(message.authority, "authority");
        requireAddress(message.contract, "contract");
        checks.requireJson(message.msg);
      },
      handle: (context, message) => {
        checks.requireAuthority(authority, message);
        return { data: host.sudo(context, message.contract, fromUtf8(message.msg)) };
      },
    },
  } satisfies Partial<MessageFunctions<typeof wire.Msg>>;
}

interface ContractPlace {
  readonly sender: string;
  readonly contract: string;
}

/** Loads a contract on behalf of its admin or the authority. */
function ownedContract(context: Context, { sender, contract }: ContractPlace, options: WasmOptions) {
  const address = parseAddress(options.bech32Prefix, contract);
  const info = contracts.get(context, address);
  if (info === undefined) throw ErrInvalidRequest("unknown contract");
  if (sender !== options.authority && info.admin !== sender) throw ErrUnauthorized("can not modify contract");
  return { address, info };
}

function setAdmin(context: Context, place: ContractPlace, admin: string, options: WasmOptions): void {
  const { address, info } = ownedContract(context, place, options);
  contracts.set(context, address, { ...info, admin });
  context.emit(
    event("update_contract_admin", [
      ["_contract_address", place.contract],
      ["new_admin_address", admin],
    ]),
  );
}

function setLabel(context: Context, message: wire.MsgUpdateContractLabel, options: WasmOptions): void {
  const { address, info } = ownedContract(context, message, options);
  contracts.set(context, address, { ...info, label: message.newLabel });
  context.emit(
    event("update_contract_label", [
      ["_contract_address", message.contract],
      ["new_label", message.newLabel],
    ]),
  );
}
