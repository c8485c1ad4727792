import { Params as ControllerParams } from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/controller/v1/controller.ts";
import * as controllerQuery from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/controller/v1/query.ts";
import * as controllerTx from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/controller/v1/tx.ts";
import { GenesisState as AccountsGenesis } from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/genesis/v1/genesis.ts";
import { Params as HostParams } from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/host/v1/host.ts";
import * as hostQuery from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/host/v1/query.ts";
import * as hostTx from "../../../cosmos/proto/gen/ibc/applications/interchain_accounts/host/v1/tx.ts";
import { GenesisState as InterchainTxsGenesis } from "../../../cosmos/proto/gen/neutron/interchaintxs/v1/genesis.ts";
import { Params as InterchainTxsParams } from "../../../cosmos/proto/gen/neutron/interchaintxs/v1/params.ts";
import * as txsQuery from "../../../cosmos/proto/gen/neutron/interchaintxs/v1/query.ts";
import * as txsTx from "../../../cosmos/proto/gen/neutron/interchaintxs/v1/tx.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import {
  ErrInvalidRequest,
  ErrNotSupported,
  orThrow,
  registerError,
  unregisteredError,
  wrapErrors,
} from "../../../localnet/chain/runtime/errors.ts";
import * as genesis from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { ChainModule } from "../../../localnet/chain/runtime/module.ts";
import { defineParams } from "../../../localnet/chain/runtime/params.ts";
import * as common from "../../../localnet/chain/runtime/params-module.ts";
import type { ParamsOnlyOptions } from "../params-only/modules.ts";
import { feeOf } from "../../../localnet/chain/modules/transfer/bindings.ts";
import { ErrIbcUnauthorized } from "../../../localnet/chain/modules/ibc/host/errors.ts";
import { NO_FEE, validateFee } from "../../../localnet/chain/modules/transfer/packet-fee.ts";
import type { MessageJson } from "../../../localnet/chain/modules/wasm/contract.ts";
import { asUintNumber, customFields } from "../../../localnet/chain/modules/wasm/custom-json.ts";

/**
 * Creates the modules `interchaintxs` and `interchainaccounts`. They contain only their params; everything that needs an account
 * fails.
 */
export function createInterchainModules(options: ParamsOnlyOptions): readonly ChainModule[] {
  return [createInterchainTxs(options), createInterchainAccounts(options)];
}

const ErrInterchainAccountNotFound = registerError("interchaintxs", 1102, "interchain account not found");
const ErrEmptyInterchainAccountID = registerError("interchaintxs", 1104, "empty interchain account id");
const ErrEmptyConnectionID = registerError("interchaintxs", 1105, "empty connection id");
const ErrNoMessages = registerError("interchaintxs", 1106, "no messages provided");
const ErrInvalidTimeout = registerError("interchaintxs", 1107, "timeout must be greater than zero");

/** Performs MsgSubmitTx's stateless checks, in the deployed order. Throws `ModuleError`. */
function validateSubmitTx({
  fee,
  connectionId,
  interchainAccountId,
  msgs,
  timeout,
}: txsTx.MsgSubmitTx): void {
  validateFee(fee ?? NO_FEE);
  if (connectionId === "") throw ErrEmptyConnectionID();
  if (interchainAccountId === "") throw ErrEmptyInterchainAccountID();
  if (msgs.length === 0) throw ErrNoMessages();
  if (timeout === 0n) throw ErrInvalidTimeout();
}

/** Performs MsgRegisterInterchainAccount's stateless checks. Throws `ModuleError`. */
function validateRegistration(message: txsTx.MsgRegisterInterchainAccount): void {
  if (message.connectionId === "") throw ErrEmptyConnectionID();
  if (message.interchainAccountId === "") throw ErrEmptyInterchainAccountID();
}

/** Checks a message to `interchaintxs` and then fails, because the chain has no interchain accounts. */
function refuse(name: string, check: () => void): never {
  wrapErrors(`failed to validate ${name}`, check);
  throw ErrNotSupported("interchain accounts are not implemented on a local chain");
}

/** Runs a contract's `register_interchain_account` or `submit_tx`, which always fail. Returns undefined for any other message. */
export function handleInterchainMessage(message: unknown): undefined {
  const { register_interchain_account: register, submit_tx: submit } = isRecord(message) ? message : {};
  if (isRecord(register))
    wrapErrors("failed to register interchain account", () =>
      refuse("MsgRegisterInterchainAccount", () => validateRegistration(registrationOf(register))),
    );
  if (isRecord(submit))
    wrapErrors(
      (error) =>
        error.wrap("failed to submit interchain transaction").wrap("failed to submit interchain transaction"),
      () => refuse("MsgSubmitTx", () => validateSubmitTx(submissionOf(submit))),
    );
  return undefined;
}

function registrationOf(message: Readonly<Record<string, unknown>>): txsTx.MsgRegisterInterchainAccount {
  const fields = customFields(message);
  return {
    ...txsTx.MsgRegisterInterchainAccount.decode(new Uint8Array(0)),
    connectionId: fields.member("connection_id").asText(),
    interchainAccountId: fields.member("interchain_account_id").asText(),
  };
}

function submissionOf(message: Readonly<Record<string, unknown>>): txsTx.MsgSubmitTx {
  const fields = customFields(message);
  return {
    ...txsTx.MsgSubmitTx.decode(new Uint8Array(0)),
    connectionId: fields.member("connection_id").asText(),
    interchainAccountId: fields.member("interchain_account_id").asText(),
    msgs: fields
      .member("msgs")
      .elements()
      .map((each) => ({ typeUrl: each.member("type_url").asText(), value: new Uint8Array(0) })),
    timeout: asUintNumber(fields.member("timeout")),
    fee: feeOf(fields.member("fee").orEmpty()),
  };
}

/** Creates the module for transactions on other chains through interchain accounts. This chain has no interchain accounts. */
function createInterchainTxs(options: ParamsOnlyOptions): ChainModule {
  const { chainName, bech32Prefix, authority, denom } = options;
  const schema: genesis.GenesisSchema<InterchainTxsGenesis> = {
    module: "interchaintxs",
    typeName: "neutron.interchaintxs.v1.GenesisState",
    type: InterchainTxsGenesis,
  };
  const params = defineParams<InterchainTxsParams>({
    store: schema.module,
    key: Uint8Array.of(1),
    type: InterchainTxsParams,
    defaults: { msgSubmitTxMaxMessages: 16n, registerFee: [{ denom, amount: "1000000" }] },
    unset: { msgSubmitTxMaxMessages: 0n, registerFee: [] },
    validate: ({ msgSubmitTxMaxMessages }) => {
      if (msgSubmitTxMaxMessages === 0n)
        throw unregisteredError("MsgSubmitTxMaxMessages must be greater than zero");
    },
  });
  return {
    name: schema.module,
    stores: [schema.module],
    messages: messageHandlers(
      txsTx.Msg,
      {
        UpdateParams: params.update({
          authority,
          signerError: ErrInvalidRequest,
          check: common.checkUpdate(bech32Prefix, params.validate),
        }),
        RegisterInterchainAccount: (_context, message) =>
          refuse("MsgRegisterInterchainAccount", () => validateRegistration(message)),
        SubmitTx: (_context, message) => refuse("MsgSubmitTx", () => validateSubmitTx(message)),
      },
      chainName,
    ),
    queries: queryHandlers(
      txsQuery.Query,
      {
        Params: params.query,
        InterchainAccountAddress: (_context, request) => accountAddress(request, options),
      },
      chainName,
    ),
    initGenesis: (context, json) => common.initParams(context, json, schema, params),
    exportGenesis: (context) => common.exportParams(context, schema, params),
  };
}

/** Always fails, because the chain has no interchain accounts. */
function accountAddress(
  { ownerAddress, interchainAccountId }: txsQuery.QueryInterchainAccountAddressRequest,
  { bech32Prefix }: ParamsOnlyOptions,
): never {
  orThrow(
    () => parseAddress(bech32Prefix, ownerAddress),
    (reason) =>
      ErrInvalidRequest(`failed to create ica owner: failed to decode address from bech32: ${reason}`),
  );
  throw ErrInterchainAccountNotFound(
    `no interchain account found for portID icacontroller-${ownerAddress}.${interchainAccountId}`,
  );
}

/** Answers a contract's `interchain_account_address`. Returns undefined for any other query. */
export function queryInterchainAccount(
  request: Readonly<Record<string, unknown>>,
  options: ParamsOnlyOptions,
): MessageJson | undefined {
  const query = request["interchain_account_address"];
  if (!isRecord(query)) return undefined;
  const fields = customFields(query);
  return accountAddress(
    {
      ownerAddress: fields.member("owner_address").asText(),
      interchainAccountId: fields.member("interchain_account_id").asText(),
      connectionId: fields.member("connection_id").asText(),
    },
    options,
  );
}

const ACCOUNTS_SCHEMA: genesis.GenesisSchema<AccountsGenesis> = {
  module: "interchainaccounts",
  typeName: "ibc.applications.interchain_accounts.genesis.v1.GenesisState",
  type: AccountsGenesis,
};
const hostParams = defineParams<HostParams>({
  store: "icahost",
  key: utf8("params"),
  type: HostParams,
  defaults: { hostEnabled: true, allowMessages: ["*"] },
});
const controllerParams = defineParams<ControllerParams>({
  store: "icacontroller",
  key: utf8("params"),
  type: ControllerParams,
  defaults: { controllerEnabled: true },
});

/** Creates the params for both sides of ICS-27, the accounts that other chains control. No port is bound. */
function createInterchainAccounts({ authority }: ParamsOnlyOptions): ChainModule {
  const requireAuthority = (signer: string): void => {
    if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
  };
  return {
    name: ACCOUNTS_SCHEMA.module,
    stores: ["icacontroller", "icahost"],
    messages: [
      ...messageHandlers(hostTx.Msg, {
        UpdateParams: (context, { signer, params }) => {
          requireAuthority(signer);
          hostParams.set(context, params ?? { hostEnabled: false, allowMessages: [] });
        },
      }),
      ...messageHandlers(controllerTx.Msg, {
        UpdateParams: (context, { signer, params }) => {
          requireAuthority(signer);
          controllerParams.set(context, params ?? { controllerEnabled: false });
        },
      }),
    ],
    queries: [
      ...queryHandlers(hostQuery.Query, { Params: hostParams.query }),
      ...queryHandlers(controllerQuery.Query, { Params: controllerParams.query }),
    ],
    initGenesis: initAccounts,
    exportGenesis: exportAccounts,
  };
}

/** Stores the params for both sides. Throws `GenesisError` for channels or accounts, which the chain does not have. */
function initAccounts(context: Context, json: JsonValue | undefined): void {
  const state = genesis.readGenesis(ACCOUNTS_SCHEMA, json);
  for (const side of ["controller", "host"] as const) {
    const part = state?.[`${side}GenesisState`];
    if ((part?.activeChannels.length ?? 0) + (part?.interchainAccounts.length ?? 0) > 0)
      throw new genesis.GenesisError(
        `app_state.interchainaccounts.${side}_genesis_state`,
        "no channels and accounts were expected: interchain accounts are not implemented on a local chain",
      );
  }
  const members = isRecord(json) ? json : {};
  const given = (side: string): JsonValue | undefined => members[`${side}_genesis_state`] ?? undefined;
  genesis.atPath("app_state.interchainaccounts.host_genesis_state.params", () =>
    hostParams.set(
      context,
      genesis.partOr(given("host"), "params", state?.hostGenesisState?.params, hostParams.defaults),
    ),
  );
  genesis.atPath("app_state.interchainaccounts.controller_genesis_state.params", () =>
    controllerParams.set(
      context,
      genesis.partOr(
        given("controller"),
        "params",
        state?.controllerGenesisState?.params,
        controllerParams.defaults,
      ),
    ),
  );
}

function exportAccounts(context: Context): JsonValue {
  const none = { activeChannels: [], interchainAccounts: [] };
  return genesis.printGenesis(ACCOUNTS_SCHEMA, {
    controllerGenesisState: { ...none, ports: [], params: controllerParams.get(context) },
    hostGenesisState: { ...none, port: "icahost", params: hostParams.get(context) },
  });
}
