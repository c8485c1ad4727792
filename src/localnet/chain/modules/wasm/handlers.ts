import type * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { parseCoins } from "../../runtime/coins.ts";
import { type Context, event } from "../../runtime/context.ts";
import { ErrInvalidRequest, ErrUnauthorized, orThrow, unregisteredError } from "../../runtime/errors.ts";
import type { MessageFunctions } from "../../runtime/handlers.ts";
import type { ContractHost } from "./contract-host.ts";
import { contracts, codes, setPinned, isSubset, moduleParams } from "./keeper.ts";
import * as checks from "./messages.ts";
import type { WasmOptions } from "./types.ts";
import { type AccessConfig, AccessType } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import type { Vm } from "../../../vm/vm.ts";
import { defaultPermission, storeCode } from "./code-store.ts";
import { ErrNoSuchCode } from "./keys.ts";

/** Handlers for messages to contracts, with stateless checks in the order of wasmd's `ValidateBasic`. */
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

/** Loads a contract. Throws unless the sender is the contract's admin or the authority. */
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

/** Handlers for messages about codes and params, with stateless checks in the order of wasmd's `ValidateBasic`. */
export function codeMessages({ authority, bech32Prefix }: WasmOptions, host: ContractHost, vm: Vm) {
  const { requireAddress, requireAddresses, requireAccess } = checks.createAddressChecks(bech32Prefix);
  const requireAuthorityAddress = (message: checks.AuthorityMessage): void =>
    requireAddress(message.authority, "authority");
  const requireCodeIds = (message: wire.MsgPinCodes): void => {
    requireAuthorityAddress(message);
    checks.requireCodeIds(message.codeIds);
  };
  const pinCodes = (context: Context, message: wire.MsgPinCodes, isPinned: boolean): void => {
    checks.requireAuthority(authority, message);
    for (const codeId of message.codeIds) pinCode(context, codeId, isPinned);
  };
  const requireUploadAddresses = (message: wire.MsgAddCodeUploadParamsAddresses): void => {
    requireAuthorityAddress(message);
    requireAddresses(message.addresses);
  };
  const absent = moduleParams.defaults;
  const updateParams = moduleParams.update({ authority, signerError: ErrUnauthorized, absent });
  /** Stores code from a message that the authority sent. */
  const storeOwnCode = (context: Context, message: StoredByAuthority) => {
    checks.requireAuthority(authority, message);
    return storeCode(context, vm, {
      creator: authority,
      code: message.wasmByteCode,
      permission: message.instantiatePermission,
      isAuthority: true,
    });
  };
  return {
    StoreCode: {
      validate: ({ sender, wasmByteCode, instantiatePermission }) => {
        // As in wasmd, the error for an invalid sender is unregistered.
        orThrow(() => parseAddress(bech32Prefix, sender), unregisteredError);
        checks.requireCode(wasmByteCode);
        requireAccess(instantiatePermission);
      },
      handle: (context, { sender: creator, wasmByteCode: code, instantiatePermission: permission }) =>
        storeCode(context, vm, { creator, code, permission, isAuthority: creator === authority }),
    },
    UpdateInstantiateConfig: {
      validate: (message) => {
        requireAddress(message.sender, "sender");
        checks.requireCodeId(message.codeId);
        if (message.newInstantiatePermission === undefined)
          throw ErrInvalidRequest("instantiate permission is required");
        requireAccess(message.newInstantiatePermission);
      },
      handle: (context, message) => updateInstantiateConfig(context, message, authority),
    },
    PinCodes: {
      validate: requireCodeIds,
      handle: (context, message) => pinCodes(context, message, true),
    },
    UnpinCodes: {
      validate: requireCodeIds,
      handle: (context, message) => pinCodes(context, message, false),
    },
    UpdateParams: {
      validate: requireAuthorityAddress,
      handle: (context, message) => updateParams(context, message),
    },
    AddCodeUploadParamsAddresses: {
      validate: requireUploadAddresses,
      handle: (context, message) => {
        checks.requireAuthority(authority, message);
        changeUploadAddresses(context, (known) => [
          ...known,
          ...message.addresses.filter((address) => !known.includes(address)),
        ]);
      },
    },
    RemoveCodeUploadParamsAddresses: {
      validate: requireUploadAddresses,
      handle: (context, message) => {
        checks.requireAuthority(authority, message);
        changeUploadAddresses(context, (known) =>
          known.filter((address) => !message.addresses.includes(address)),
        );
      },
    },
    StoreAndInstantiateContract: {
      validate: (message) => {
        requireAuthorityAddress(message);
        checks.requireLabel(message.label);
        checks.requireFunds(message.funds, "funds");
        if (message.admin !== "") requireAddress(message.admin, "admin");
        checks.requireCode(message.wasmByteCode);
        requireAccess(message.instantiatePermission);
        checks.requireJson(message.msg);
      },
      handle: (context, message) => {
        const { codeId } = storeOwnCode(context, message);
        const contract = checks.instantiation({ ...message, sender: authority, codeId }, authority);
        const created = host.instantiate(context, contract);
        if (!message.unpinCode) pinCode(context, codeId, true);
        return created;
      },
    },
    StoreAndMigrateContract: {
      validate: (message) => {
        requireAuthorityAddress(message);
        requireAddress(message.contract, "contract");
        checks.requireCode(message.wasmByteCode);
        requireAccess(message.instantiatePermission);
        checks.requireJson(message.msg);
      },
      handle: (context, message) => {
        const { codeId, checksum } = storeOwnCode(context, message);
        const { contract: address, msg } = message;
        const migration = { address, sender: authority, codeId, message: msg, isAuthority: true };
        return { codeId, checksum, data: host.migrate(context, migration) };
      },
    },
  } satisfies Partial<MessageFunctions<typeof wire.Msg>>;
}

type StoredByAuthority = Pick<
  wire.MsgStoreAndMigrateContract,
  "authority" | "wasmByteCode" | "instantiatePermission"
>;

const PERMISSION_NAMES: ReadonlyMap<AccessType, string> = new Map([
  [AccessType.ACCESS_TYPE_NOBODY, "Nobody"],
  [AccessType.ACCESS_TYPE_EVERYBODY, "Everybody"],
  [AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES, "AnyOfAddresses"],
]);

function updateInstantiateConfig(
  context: Context,
  { sender, codeId, newInstantiatePermission }: wire.MsgUpdateInstantiateConfig,
  authority: string,
): void {
  const info = codes.get(context, codeId);
  if (info === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  const config: AccessConfig = newInstantiatePermission ?? { permission: 0, addresses: [] };
  const isNarrower = isSubset(config, defaultPermission(context, info.creator));
  if (sender !== authority && !(info.creator === sender && isNarrower))
    throw ErrUnauthorized("can not modify code access config");
  codes.set(context, codeId, { ...info, instantiateConfig: config });
  const { permission, addresses } = config;
  context.emit(
    event("update_code_access_config", [
      ["code_permission", PERMISSION_NAMES.get(permission) ?? "Unspecified"],
      ...(addresses.length === 0 ? [] : [["authorized_addresses", addresses.join(",")] as const]),
      ["code_id", codeId.toString()],
    ]),
  );
}

function pinCode(context: Context, codeId: bigint, isPinned: boolean): void {
  if (codes.get(context, codeId) === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  setPinned(context, codeId, isPinned);
  context.emit(event(isPinned ? "pin_code" : "unpin_code", [["code_id", codeId.toString()]]));
}

function changeUploadAddresses(
  context: Context,
  change: (known: readonly string[]) => readonly string[],
): void {
  const params = moduleParams.get(context);
  const access = params.codeUploadAccess;
  if (access?.permission !== AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES) throw ErrUnauthorized("permission");
  moduleParams.set(context, {
    ...params,
    codeUploadAccess: { ...access, addresses: [...change(access.addresses)] },
  });
}
