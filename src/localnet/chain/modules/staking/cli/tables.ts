import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import { type AnswerTable, PARAMS_TABLE } from "../../../../cli/module-query.ts";
import { cellText, type Column, column, fieldAt } from "../../../../../platform/cli/table.ts";

const STATUS_PREFIX = "BOND_STATUS_";

const VALIDATOR_COLUMNS: readonly Column[] = [
  column("MONIKER", "description.moniker"),
  column("OPERATOR", "operator_address"),
  {
    title: "STATUS",
    cell: (row) => cellText(fieldAt(row, "status")).replace(STATUS_PREFIX, "").toLowerCase(),
  },
  column("JAILED", "jailed"),
  column("TOKENS", "tokens"),
  column("SHARES", "delegator_shares"),
  column("COMMISSION", "commission.commission_rates.rate"),
];

const DELEGATION_COLUMNS = [
  column("DELEGATOR", "delegation.delegator_address"),
  column("VALIDATOR", "delegation.validator_address"),
  column("SHARES", "delegation.shares"),
  column("TOKENS", "balance.amount"),
  column("DENOM", "balance.denom"),
];

const UNBONDING_COLUMNS = [
  column("DELEGATOR", "delegator_address"),
  column("VALIDATOR", "validator_address"),
  column("ID", "unbonding_id"),
  column("HEIGHT", "creation_height"),
  column("BALANCE", "balance"),
  column("INITIAL", "initial_balance"),
  column("COMPLETES", "completion_time"),
];

const REDELEGATION_COLUMNS = [
  column("DELEGATOR", "delegator_address"),
  column("SOURCE", "validator_src_address"),
  column("DESTINATION", "validator_dst_address"),
  column("ID", "redelegation_entry.unbonding_id"),
  column("HEIGHT", "redelegation_entry.creation_height"),
  column("TOKENS", "balance"),
  column("SHARES", "redelegation_entry.shares_dst"),
  column("COMPLETES", "redelegation_entry.completion_time"),
];

const SIGNING_COLUMNS = [
  column("CONSENSUS ADDRESS", "address"),
  column("SINCE", "start_height"),
  column("MISSED", "missed_blocks_counter"),
  column("JAILED UNTIL", "jailed_until"),
  column("TOMBSTONED", "tombstoned"),
];

/** Tables of `cosmos.staking.v1beta1.Query`. */
export const STAKING_TABLES = {
  Validators: { path: "validators", columns: VALIDATOR_COLUMNS },
  Validator: { path: "validator", columns: VALIDATOR_COLUMNS },
  DelegatorValidators: { path: "validators", columns: VALIDATOR_COLUMNS },
  DelegatorValidator: { path: "validator", columns: VALIDATOR_COLUMNS },
  Delegation: { path: "delegation_response", columns: DELEGATION_COLUMNS },
  DelegatorDelegations: { path: "delegation_responses", columns: DELEGATION_COLUMNS },
  ValidatorDelegations: { path: "delegation_responses", columns: DELEGATION_COLUMNS },
  UnbondingDelegation: { path: "unbond", columns: UNBONDING_COLUMNS, rows: entriesOf },
  DelegatorUnbondingDelegations: { path: "unbonding_responses", columns: UNBONDING_COLUMNS, rows: entriesOf },
  ValidatorUnbondingDelegations: { path: "unbonding_responses", columns: UNBONDING_COLUMNS, rows: entriesOf },
  Redelegations: {
    path: "redelegation_responses",
    columns: REDELEGATION_COLUMNS,
    rows: (response) => entriesOf(response, fieldAt(response, "redelegation")),
  },
  HistoricalInfo: {
    path: "hist",
    columns: VALIDATOR_COLUMNS,
    rows: (hist) => listAt(hist, "valset"),
    notes: [
      ["height: ", "hist.header.height"],
      ["time: ", "hist.header.time"],
    ],
  },
  Pool: {
    path: "pool",
    columns: [column("BONDED", "bonded_tokens"), column("NOT BONDED", "not_bonded_tokens")],
  },
  Params: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** Tables of `cosmos.slashing.v1beta1.Query`. */
export const SLASHING_TABLES = {
  Params: PARAMS_TABLE,
  SigningInfo: { path: "val_signing_info", columns: SIGNING_COLUMNS },
  SigningInfos: { path: "info", columns: SIGNING_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** Tables of `neutron.harpoon.Query`. */
export const HARPOON_TABLES = {
  SubscribedContracts: {
    path: "contract_addresses",
    columns: [{ title: "CONTRACT", cell: cellText }],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** Returns one row for each entry, with the fields of its record. */
function entriesOf(record: JsonValue, fields: JsonValue = record): readonly JsonValue[] {
  return listAt(record, "entries").map((entry) => ({
    ...(isRecord(fields) ? fields : {}),
    ...(isRecord(entry) ? entry : {}),
  }));
}

function listAt(value: JsonValue, path: string): readonly JsonValue[] {
  const list = fieldAt(value, path);
  return Array.isArray(list) ? list : [];
}
