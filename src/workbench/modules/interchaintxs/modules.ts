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
import { isRecord, type JsonField, type JsonValue } from "../../../platform/base/json.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context, ChainModule } from "../../../localnet/chain/runtime/context.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import * as genesis from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { checkUpdate, exportParams, initParams } from "../../../localnet/chain/runtime/params-module.ts";
import type { ParamsOnlyOptions } from "../params-only/modules.ts";
import { feeOf } from "../../../localnet/chain/modules/transfer/bindings.ts";
import { ErrIbcUnauthorized } from "../../../localnet/chain/modules/ibc/host/errors.ts";
import { NO_FEE, validateFee } from "../../../localnet/chain/modules/transfer/packet.ts";
import {
  asUintNumber,
  customMessages,
  customQueries,
} from "../../../localnet/chain/modules/wasm/custom-json.ts";
import type { CustomMessageHandler, CustomQueryHandler } from "../../../localnet/chain/modules/wasm/types.ts";

/**
 * Creates `interchaintxs` and `interchainaccounts`, which have only params: any message or query that requires an interchain
 * account fails.
 */
export function createInterchainModules(options: ParamsOnlyOptions): readonly ChainModule[] {
  return [createInterchainTxs(options), createInterchainAccounts(options)];
}

const register = errors.errorsOf("interchaintxs");
const ErrInterchainAccountNotFound = register(1102, "interchain account not found");
const ErrEmptyInterchainAccountID = register(1104, "empty interchain account id");
const ErrEmptyConnectionID = register(1105, "empty connection id");
const ErrNoMessages = register(1106, "no messages provided");
const ErrInvalidTimeout = register(1107, "timeout must be greater than zero");

type AccountNames = Pick<txsTx.MsgSubmitTx, "connectionId" | "interchainAccountId">;

interface Submission extends AccountNames, Pick<txsTx.MsgSubmitTx, "fee" | "timeout"> {
  readonly msgs: readonly unknown[];
}

/** Runs MsgSubmitTx's stateless checks in the deployed chain's order. Throws `ModuleError`. */
function validateSubmitTx({ fee, msgs, timeout, ...account }: Submission): void {
  validateFee(fee ?? NO_FEE);
  validateAccount(account);
  if (msgs.length === 0) throw ErrNoMessages();
  if (timeout === 0n) throw ErrInvalidTimeout();
}

function validateAccount({ connectionId, interchainAccountId }: AccountNames): void {
  if (connectionId === "") throw ErrEmptyConnectionID();
  if (interchainAccountId === "") throw ErrEmptyInterchainAccountID();
}

/** Checks a message to `interchaintxs`, then fails, because the chain has no interchain accounts. */
function refuse(name: string, check: () => void): never {
  errors.wrapErrors(`failed to validate ${name}`, check);
  throw errors.ErrNotSupported("interchain accounts are not implemented on a local chain");
}

/** Handles contracts' custom messages about interchain accounts, all of which fail. */
export const handleInterchainMessage: CustomMessageHandler = customMessages({
  register_interchain_account: (_context, _sender, fields) =>
    errors.wrapErrors("failed to register interchain account", () =>
      refuse("MsgRegisterInterchainAccount", () => validateAccount(accountOf(fields))),
    ),
  submit_tx: (_context, _sender, fields) =>
    errors.wrapErrors(
      (error) =>
        error.wrap("failed to submit interchain transaction").wrap("failed to submit interchain transaction"),
      () =>
        refuse("MsgSubmitTx", () =>
          validateSubmitTx({
            ...accountOf(fields),
            msgs: fields
              .member("msgs")
              .elements()
              .map((each) => each.member("type_url").asText()),
            timeout: asUintNumber(fields.member("timeout")),
            fee: feeOf(fields.member("fee").orEmpty()),
          }),
        ),
    ),
});

function accountOf(fields: JsonField): AccountNames {
  return {
    connectionId: fields.member("connection_id").asText(),
    interchainAccountId: fields.member("interchain_account_id").asText(),
  };
}

/** Creates `interchaintxs`, the module for transactions on other chains through interchain accounts, which this chain lacks. */
function createInterchainTxs(options: ParamsOnlyOptions): ChainModule {
  const { chainName, bech32Prefix, authority, denom } = options;
  const schema = genesis.genesisSchema(
    "interchaintxs",
    "neutron.interchaintxs.v1.GenesisState",
    InterchainTxsGenesis,
  );
  const params = defineParams<InterchainTxsParams>({
    store: schema.module,
    key: Uint8Array.of(1),
    type: InterchainTxsParams,
    defaults: { msgSubmitTxMaxMessages: 16n, registerFee: [{ denom, amount: "1000000" }] },
    unset: { msgSubmitTxMaxMessages: 0n, registerFee: [] },
    validate: ({ msgSubmitTxMaxMessages }) => {
      if (msgSubmitTxMaxMessages === 0n)
        throw errors.unregisteredError("MsgSubmitTxMaxMessages must be greater than zero");
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
          signerError: errors.ErrInvalidRequest,
          check: checkUpdate(bech32Prefix, params.validate),
        }),
        RegisterInterchainAccount: (_context, message) =>
          refuse("MsgRegisterInterchainAccount", () => validateAccount(message)),
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
    initGenesis: (context, json) => initParams(context, json, schema, params),
    exportGenesis: (context) => exportParams(context, schema, params),
  };
}

/** Always fails, because the chain has no interchain accounts. */
function accountAddress(
  { ownerAddress, interchainAccountId }: txsQuery.QueryInterchainAccountAddressRequest,
  { bech32Prefix }: ParamsOnlyOptions,
): never {
  errors.orThrow(
    () => parseAddress(bech32Prefix, ownerAddress),
    (reason) =>
      errors.ErrInvalidRequest(`failed to create ica owner: failed to decode address from bech32: ${reason}`),
  );
  throw ErrInterchainAccountNotFound(
    `no interchain account found for portID icacontroller-${ownerAddress}.${interchainAccountId}`,
  );
}

export function createInterchainQueries(options: ParamsOnlyOptions): CustomQueryHandler {
  return customQueries({
    interchain_account_address: (_context, fields) => {
      const request = {
        ownerAddress: fields.member("owner_address").asText(),
        interchainAccountId: fields.member("interchain_account_id").asText(),
        connectionId: fields.member("connection_id").asText(),
      };
      return accountAddress(request, options);
    },
  });
}

const ACCOUNTS_SCHEMA = genesis.genesisSchema(
  "interchainaccounts",
  "ibc.applications.interchain_accounts.genesis.v1.GenesisState",
  AccountsGenesis,
);
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

/** Creates the `interchainaccounts` module, which has only the params for the ICS-27 controller and host, and binds no port. */
function createInterchainAccounts({ authority }: ParamsOnlyOptions): ChainModule {
  // If a message contains no params, `none` is stored.
  const update =
    <P>(params: ModuleParams<P>, none: P) =>
    (context: Context, message: { readonly signer: string; readonly params: P | undefined }): void => {
      if (message.signer !== authority)
        throw ErrIbcUnauthorized(`expected ${authority}, got ${message.signer}`);
      params.set(context, message.params ?? none);
    };
  return {
    name: ACCOUNTS_SCHEMA.module,
    stores: ["icacontroller", "icahost"],
    messages: [
      ...messageHandlers(hostTx.Msg, {
        UpdateParams: update(hostParams, { hostEnabled: false, allowMessages: [] }),
      }),
      ...messageHandlers(controllerTx.Msg, {
        UpdateParams: update(controllerParams, { controllerEnabled: false }),
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

/**
 * Stores the params for the ICS-27 controller and host. Throws `GenesisError` if genesis has channels or accounts, which are not
 * supported.
 */
function initAccounts(context: Context, json: JsonValue | undefined): void {
  const state = ACCOUNTS_SCHEMA.read(json);
  for (const side of ["controller", "host"] as const) {
    const part = state?.[`${side}GenesisState`];
    if ((part?.activeChannels.length ?? 0) + (part?.interchainAccounts.length ?? 0) > 0)
      throw new genesis.GenesisError(
        `app_state.interchainaccounts.${side}_genesis_state`,
        "expected no channels or accounts: interchain accounts are not implemented on a local chain",
      );
  }
  const members = isRecord(json) ? json : {};
  const init = <P>(side: "controller" | "host", given: P | undefined, params: ModuleParams<P>): void => {
    const part = members[`${side}_genesis_state`] ?? undefined;
    genesis.atPath(`app_state.interchainaccounts.${side}_genesis_state.params`, () =>
      params.set(context, genesis.partOr(part, "params", given, params.defaults)),
    );
  };
  init("host", state?.hostGenesisState?.params, hostParams);
  init("controller", state?.controllerGenesisState?.params, controllerParams);
}

function exportAccounts(context: Context): JsonValue {
  const none = { activeChannels: [], interchainAccounts: [] };
  return ACCOUNTS_SCHEMA.print({
    controllerGenesisState: { ...none, ports: [], params: controllerParams.get(context) },
    hostGenesisState: { ...none, port: "icahost", params: hostParams.get(context) },
  });
}
