import type { VariableSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";

/** Selects the jobs of the variable. */
export const JOB = 'job=~"$job"';
/** Selects the connections of the variable. */
export const PLACE = 'job=~"$job",connection_id=~"$connection"';
/** Selects the chains of the variable. */
export const CHAIN = 'job=~"$job",chain_id=~"$chain"';
/** Prefix of the relayer's metrics. */
export const M = "relaywatch_relayer";

/** The variable of jobs. */
export const JOBS: VariableSpec = { name: "job", label: "Job", metric: `${M}_ready`, from: "job" };
/** The variable of connections. */
export const CONNECTIONS: VariableSpec = {
  name: "connection",
  label: "Connection",
  metric: `${M}_remote_height{job=~"$job"}`,
  from: "connection_id",
};
/** The variable of chains. */
export const CHAINS: VariableSpec = {
  name: "chain",
  label: "Chain",
  metric: `${M}_endpoint_up{job=~"$job"}`,
  from: "chain_id",
};

/** Annotations of the dashboards of the relayer. */
export const ANNOTATIONS = {
  restarts: 'changes(process_start_time_seconds{job=~"$job"}[1m]) > 0',
  alerts: 'ALERTS{component="icq-relayer",alertstate="firing",job=~"$job"}',
};

/** Red from 1 on. */
export const BAD_ABOVE_ZERO = [
  ["green", undefined],
  ["red", 1],
] as const;
