import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { type AccessConfig, AccessType } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { parseCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest, ErrUnauthorized } from "../../runtime/errors.ts";
import { event } from "../../runtime/events.ts";
import { type MessageFunctions, messageHandlers } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { defaultPermission, storeCode } from "./code-store.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { ContractHost } from "./contract-host.ts";
import { codes, contracts, setPinned } from "./keeper.ts";
import { ErrNoSuchCode } from "./keys.ts";
import { createValidators } from "./messages.ts";
import { isSubset, moduleParams } from "./params.ts";
import type { WasmOptions } from "./types.ts";

/** Handlers for the module's messages. Their stateless checks are in `messages.ts`. */
export function createMessageHandlers(
  options: WasmOptions,
  deps: Pick<Handlers, "host" | "vm">,
): readonly MessageHandler[] {
  const handlers = { ...options, ...deps };
  return messageHandlers(wire.Msg, {
    ...codeHandlers(handlers),
    ...contractHandlers(handlers),
    ...authorityHandlers(handlers),
    ...uploadAddressHandlers(handlers),
  });
}

/** Implementations of some of the module's messages. */
type Messages = Partial<MessageFunctions<typeof wire.Msg>>;

interface Handlers extends WasmOptions {
  readonly host: ContractHost;
  readonly vm: Vm;
}

function codeHandlers(options: Handlers) {
  const { authority, vm } = options;
  const check = createValidators(options);
  return {
    StoreCode: {
      validate: check.storeCode,
      handle: (context, { sender, wasmByteCode, instantiatePermission }) =>
        storeCode(context, vm, {
          creator: sender,
          code: wasmByteCode,
          permission: instantiatePermission,
          isAuthority: sender === authority,
        }),
    },
    UpdateInstantiateConfig: {
      validate: check.updateInstantiateConfig,
      handle: (context, message) => updateInstantiateConfig(context, message, authority),
    },
    PinCodes: {
      validate: check.pinCodes,
      handle: (context, message) => pinCodes(context, message, { authority, isPinned: true }),
    },
    UnpinCodes: {
      validate: check.pinCodes,
      handle: (context, message) => pinCodes(context, message, { authority, isPinned: false }),
    },
  } satisfies Messages;
}

function contractHandlers(options: Handlers) {
  const { authority, host } = options;
  const check = createValidators(options);
  return {
    InstantiateContract: {
      validate: check.instantiate,
      handle: (context, message) => host.instantiate(context, instantiation(message, authority)),
    },
    InstantiateContract2: {
      validate: check.instantiate2,
      handle: (context, message) => {
        const salt = { bytes: message.salt, isMessageFixed: message.fixMsg };
        const created = host.instantiate(context, { ...instantiation(message, authority), salt });
        return created;
      },
    },
    ExecuteContract: {
      validate: check.execute,
      handle: (context, { sender, contract, msg, funds }) => {
        const data = host.execute(context, contract, { sender, funds: parseCoins(funds) }, msg);
        return { data };
      },
    },
    MigrateContract: {
      validate: check.migrate,
      handle: (context, { sender, contract, codeId, msg }) => {
        const isAuthority = sender === authority;
        const data = host.migrate(context, { address: contract, sender, codeId, message: msg, isAuthority });
        return { data };
      },
    },
    UpdateAdmin: {
      validate: check.updateAdmin,
      handle: (context, message) => setAdmin(context, message, message.newAdmin, options),
    },
    ClearAdmin: {
      validate: check.clearAdmin,
      handle: (context, message) => setAdmin(context, message, "", options),
    },
    UpdateContractLabel: {
      validate: check.updateLabel,
      handle: (context, message) => setLabel(context, message, options),
    },
  } satisfies Messages;
}

function authorityHandlers(options: Handlers) {
  const { authority, host } = options;
  const check = createValidators(options);
  return {
    SudoContract: {
      validate: check.sudo,
      handle: (context, message) => {
        requireAuthority(authority, message.authority);
        const data = host.sudo(context, message.contract, fromUtf8(message.msg));
        return { data };
      },
    },
    UpdateParams: {
      validate: check.updateParams,
      handle: moduleParams.update({ authority, signerError: ErrUnauthorized, absent: moduleParams.defaults }),
    },
    StoreAndInstantiateContract: {
      validate: check.storeAndInstantiate,
      handle: (context, message) => storeAndInstantiate(context, message, options),
    },
    StoreAndMigrateContract: {
      validate: check.storeAndMigrate,
      handle: (context, message) => storeAndMigrate(context, message, options),
    },
  } satisfies Messages;
}

function uploadAddressHandlers(options: Handlers) {
  const { authority } = options;
  const check = createValidators(options);
  return {
    AddCodeUploadParamsAddresses: {
      validate: check.uploadAddresses,
      handle: (context, message) => {
        requireAuthority(authority, message.authority);
        changeUploadAddresses(context, (known) => [
          ...known,
          ...message.addresses.filter((address) => !known.includes(address)),
        ]);
      },
    },
    RemoveCodeUploadParamsAddresses: {
      validate: check.uploadAddresses,
      handle: (context, message) => {
        requireAuthority(authority, message.authority);
        changeUploadAddresses(context, (known) =>
          known.filter((address) => !message.addresses.includes(address)),
        );
      },
    },
  } satisfies Messages;
}

function requireAuthority(expected: string, got: string): void {
  if (got !== expected) throw ErrUnauthorized(`invalid authority; expected ${expected}, got ${got}`);
}

function instantiation(
  message: Pick<wire.MsgInstantiateContract, "sender" | "admin" | "codeId" | "label" | "msg" | "funds">,
  authority: string,
): Parameters<ContractHost["instantiate"]>[1] {
  return {
    creator: message.sender,
    admin: message.admin,
    codeId: message.codeId,
    label: message.label,
    message: message.msg,
    funds: parseCoins(message.funds),
    isAuthority: message.sender === authority,
  };
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
      ["code_permission", permissionName(permission)],
      ...(addresses.length === 0 ? [] : [["authorized_addresses", addresses.join(",")] as const]),
      ["code_id", codeId.toString()],
    ]),
  );
}

const PERMISSION_NAMES: ReadonlyMap<AccessType, string> = new Map([
  [AccessType.ACCESS_TYPE_NOBODY, "Nobody"],
  [AccessType.ACCESS_TYPE_EVERYBODY, "Everybody"],
  [AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES, "AnyOfAddresses"],
]);

function permissionName(permission: AccessType): string {
  return PERMISSION_NAMES.get(permission) ?? "Unspecified";
}

function pinCodes(
  context: Context,
  message: wire.MsgPinCodes,
  { authority, isPinned }: { readonly authority: string; readonly isPinned: boolean },
): void {
  requireAuthority(authority, message.authority);
  for (const codeId of message.codeIds) pinCode(context, codeId, isPinned);
}

function pinCode(context: Context, codeId: bigint, isPinned: boolean): void {
  if (codes.get(context, codeId) === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  setPinned(context, codeId, isPinned);
  context.emit(event(isPinned ? "pin_code" : "unpin_code", [["code_id", codeId.toString()]]));
}

function storeAndInstantiate(
  context: Context,
  message: wire.MsgStoreAndInstantiateContract,
  { authority, host, vm }: Handlers,
): wire.MsgStoreAndInstantiateContractResponse {
  requireAuthority(authority, message.authority);
  const { codeId } = storeCode(context, vm, {
    creator: authority,
    code: message.wasmByteCode,
    permission: message.instantiatePermission,
    isAuthority: true,
  });
  const created = host.instantiate(
    context,
    instantiation({ ...message, sender: authority, codeId }, authority),
  );
  if (!message.unpinCode) pinCode(context, codeId, true);
  return created;
}

function storeAndMigrate(
  context: Context,
  message: wire.MsgStoreAndMigrateContract,
  { authority, host, vm }: Handlers,
): wire.MsgStoreAndMigrateContractResponse {
  requireAuthority(authority, message.authority);
  const { codeId, checksum } = storeCode(context, vm, {
    creator: authority,
    code: message.wasmByteCode,
    permission: message.instantiatePermission,
    isAuthority: true,
  });
  const data = host.migrate(context, {
    address: message.contract,
    sender: authority,
    codeId,
    message: message.msg,
    isAuthority: true,
  });
  return { codeId, checksum, data };
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
